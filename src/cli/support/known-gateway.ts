import type { App } from '#lib/server/app.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { CommandError } from './errors.ts';

/** Finds a gateway by its name. @throws CommandError */
export async function knownGateway(app: App, name: string): Promise<RegisteredGateway> {
	const gateway = await app.gateways.byName(name);
	if (!gateway) throw new CommandError(`There is no gateway "${name}"; see "gateways list".`);
	return gateway;
}
