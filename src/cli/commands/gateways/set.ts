import { UsageError, defineCommand } from '../../support/command.ts';
import { gatewayAddresses, secretLines } from '../../support/gateway-text.ts';
import { CommandError } from '../../support/errors.ts';
import { print } from '../../support/output.ts';
import { findRouter, knownGateway } from '../../support/services.ts';
import { LOGIN_HELP, readSettings, routerIdOf, SETTING_HELP, SETTING_OPTIONS } from './options.ts';

export const setGateway = defineCommand({
	name: 'gateways set',
	parameters: 'NAME [--login-host HOST]... [--nas ADDRESS[:PORT]] [--control radius|rest] [--api URL]...',
	summary: 'Change the settings of a gateway. Its portal address stays.',
	help: [
		"Settings without an option keep their value; an empty text deletes one (--nas ''). Lists are replaced. Devices stay",
		'online. For new secrets, see "gateways rotate". In live mode a gateway that is reached in another way must respond',
		'before it sells again.',
		'',
		'  --router ID           move it to another router, while nobody has time left at the old one',
		...LOGIN_HELP,
		...SETTING_HELP
	].join('\n'),
	options: SETTING_OPTIONS,
	async run({ argument, values, folder, open }) {
		const settings = await readSettings(values, folder);
		const routerId = values.router === undefined ? undefined : routerIdOf(values.router);
		const change = { ...settings, ...(routerId !== undefined && { routerId }) };
		if (Object.keys(change).length === 0)
			throw new UsageError('Name a setting to change, for example --nas.');
		const app = await open();
		const before = await knownGateway(app, argument);
		if (routerId !== undefined && !(await findRouter(app, routerId))) {
			throw new CommandError(`--router: router ${routerId} does not exist; see "routers list".`);
		}
		const gateway = await app.gatewaySetup.change(before, change);
		const fresh = (['radiusSecret', 'token'] as const).filter(
			(which) => before.credentials[which] === undefined
		);
		await print([...gatewayAddresses(gateway, app.config), ...secretLines(gateway, fresh)].join('\n'));
		console.error(`Configure it again if it needs the change: "gateways config ${argument}".`);
		if (!(await app.routers.verifiedBy(gateway))) {
			console.error('Nothing is sold there until the gateway has responded.');
		}
	}
});
