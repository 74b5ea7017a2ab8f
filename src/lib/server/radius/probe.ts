import { randomUUID } from 'node:crypto';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { AccessContext } from '../access/provisioning/context.ts';
import { serverOf } from './connections.ts';
import { sendRequest } from './coa.ts';
import * as connectionStore from '../access/device-slots/connection-store.ts';

/**
 * The result of a Disconnect-Request for a connection that does not exist (RFC 5176). `responding`: any response
 * with the right secret, usually Session-Context-Not-Found. `unresponsive`: none, though it has ended a connection
 * for us before. `unknown`: requests may never have reached it.
 */
type ProbeResult = 'responding' | 'unresponsive' | 'unknown';

export async function probeRadiusGateway(
	{ database, clock }: AccessContext,
	gateway: RegisteredGateway
): Promise<ProbeResult> {
	const server = serverOf(gateway);
	if (!server) return 'unknown';
	const name = `airtill-${randomUUID()}`;
	const result = await sendRequest(server, 'disconnect', {
		acctSessionId: name,
		// hostapd rejects a User-Name that does not match.
		userName: gateway.kind === 'hostapd' ? undefined : name,
		eventTimestamp: Math.round((clock.now() + (gateway.clockOffsetMs ?? 0)) / 1000)
	});
	if (result.kind !== 'unresponsive') return 'responding';
	return (await connectionStore.hasEnded(database.db, gateway.id)) ? 'unresponsive' : 'unknown';
}
