import { dataLeft } from '#lib/domain/data-limit.ts';
import { loginUser } from '#lib/domain/wifi/pass-username.ts';
import type { Queries } from '#lib/server/db/database.ts';
import type { DeviceLogin } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { openPass, speedOf, type OpenPass } from '#lib/server/passes/passes.ts';
import type { AccessContext } from '../context.ts';
import * as store from './store.ts';

/** Time starts at the confirmation, so the end is sent this much later. Revoking sets the exact end. */
export const SLACK_MS = 30_000;

export async function loginOf(
	{ captiveSessions, passes }: AccessContext,
	grant: store.GrantRow,
	open: OpenPass | null
): Promise<DeviceLogin> {
	const { captive_session_id: captiveSessionId, mac } = grant;
	return {
		user: loginUser(grant.pass_id),
		password: open ? passes.passwordOf(open.pass) : '',
		mac,
		login: captiveSessionId === null ? {} : await captiveSessions.loginOf(captiveSessionId),
		maxDevices: open?.pass.max_devices ?? 1,
		speed: open ? speedOf(open.pass) : { down: null, up: null },
		dataLeft: open ? dataLeft(open.pass) : null
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

/** Returns the end of the device's last pass with the same limits: a device can have several passes. */
export async function desiredEnd(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const own = open.untilMs + (open.kind === 'waits' ? SLACK_MS : 0);
	const others = await openOthers(context, grant, gateway);
	// A polling gateway cannot shorten access, and time that waits may be refunded.
	const lasting = others.filter(({ kind }) => gateway.mode !== 'poll' || kind === 'runs');
	const same = lasting.filter(({ pass }) => isSameLimit(pass, open.pass));
	return Math.max(own, ...same.map(({ untilMs }) => untilMs));
}

const isSameLimit = (a: OpenPass['pass'], b: OpenPass['pass']): boolean =>
	a.speed_down_kbps === b.speed_down_kbps &&
	a.speed_up_kbps === b.speed_up_kbps &&
	a.data_limit_mb === null &&
	b.data_limit_mb === null;

/** Returns other open passes that want the same device, or user, online at the gateway. */
export async function openOthers(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway
): Promise<OpenPass[]> {
	const { database, clock } = context;
	const open: OpenPass[] = [];
	for (const { pass_id: passId } of await othersOf(context, database.db, grant, gateway)) {
		const other = await openPass(database.db, passId, clock.now());
		if (other) open.push(other);
	}
	return open;
}
