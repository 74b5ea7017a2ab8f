import { loginUser } from '#lib/domain/pass-username.ts';
import type { Queries } from '#lib/server/db/database.ts';
import type { DeviceLogin } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { openPass, type OpenPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import * as store from './store.ts';

/** Time starts at the confirmation, so the end is sent this much later. Revoking sets the exact end. */
export const SLACK_MS = 30_000;

export async function loginOf(
	{ captiveSessions, passes }: AccessContext,
	grant: store.GrantRow,
	open: OpenPass | null
): Promise<DeviceLogin> {
	const { captive_session_id: captiveSessionId, mac, is_marked: isMarked } = grant;
	return {
		user: loginUser(grant.pass_id),
		password: open ? passes.passwordOf(open.pass) : '',
		mac,
		login: captiveSessionId === null ? {} : await captiveSessions.loginOf(captiveSessionId),
		maxDevices: open?.pass.max_devices ?? 1,
		mayBeUnmarked: isMarked === 0
	};
}

/** Other wanted grants of the same device or user. One console can be several gateways. */
export const othersOf = async (
	{ gateways }: AccessContext,
	queries: Queries,
	grant: store.GrantRow,
	gateway: RegisteredGateway
): Promise<store.GrantRow[]> =>
	store.sameDevice(queries, grant, await gateways.sharingConsole(queries, gateway));

/** Returns the end of the device's last pass: a device can have several. */
export async function desiredEnd(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const own = open.untilMs + (open.kind === 'waits' ? SLACK_MS : 0);
	return Math.max(own, ...(await endsOfOthers(context, grant, gateway)));
}

/** Returns the ends of other open passes that want the same device, or user, online at the gateway. */
export async function endsOfOthers(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway
): Promise<number[]> {
	const { database, clock } = context;
	const ends: number[] = [];
	for (const { pass_id: passId } of await othersOf(context, database.db, grant, gateway)) {
		const other = await openPass(database.db, passId, clock.now());
		if (other) ends.push(other.untilMs);
	}
	return ends;
}
