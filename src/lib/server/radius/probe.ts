import { randomUUID } from 'node:crypto';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { serverOf, type ConnectionsParts } from './connections.ts';
import { ask } from './coa.ts';
import * as connectionStore from '../access/device-slots/connection-store.ts';

/**
 * Whether an access server is there, without touching anybody: it is asked to end a connection that it cannot have (RFC
 * 5176), and any answer with the right secret is one, usually Session-Context-Not-Found. `silent` is said only where it
 * has ended a connection for us before, so that the way to it is known to work; else nothing follows from no answer.
 */
export type Life = 'answers' | 'silent' | 'unknown';

export async function lifeOf(
	{ database, clock }: Pick<ConnectionsParts, 'database' | 'clock'>,
	gateway: RegisteredGateway
): Promise<Life> {
	const server = serverOf(gateway);
	if (!server) return 'unknown';
	const name = `airtill-${randomUUID()}`;
	const asked = await ask(server, 'disconnect', {
		acctSessionId: name,
		// hostapd looks for the connection by its name alone.
		userName: gateway.kind === 'hostapd' ? undefined : name,
		eventTimestamp: Math.round((clock.now() + (gateway.clockOffsetMs ?? 0)) / 1000)
	});
	if (asked.kind !== 'silent') return 'answers';
	return (await connectionStore.hasEnded(database.db, gateway.id)) ? 'silent' : 'unknown';
}
