import { type AccessContext } from './provisioning.ts';
import { type RegisteredGateway } from '../gateways/gateways.ts';
import { type Speed, type DeviceLogin } from '../gateways/gateway.ts';
import { takeSlot, findSlot, changeSlot, findDevices } from './device-slots.ts';
import {
	type ComparedRow,
	SLACK_MS,
	buildLogin,
	confirmAdmission,
	countData,
	isEqual,
	nameCall,
	readComparison
} from './compare.ts';
import { type AdmissionRow, changeAdmission, findAdmissions, schedulePassComparisons } from './admissions.ts';
import { dataLeft } from '../../domain/offers.ts';
import { passOfUser } from '../../domain/wifi.ts';
import type { Queries, Tx } from '../db/database.ts';
import { sha256 } from '../platform/secrets.ts';
import { findOpenPass, findPassState, findPassOrThrow, lockPass, readSpeed } from '../passes.ts';
import { findLogin } from '../gateways/captive-sessions.ts';
import { startTime } from '../billing/sessions.ts';

/** A client of openNDS, as its BinAuth script reports it: a device from one sign-in to its end. */
interface OpenndsClient {
	/** `aa:bb:cc:dd:ee:ff` */
	mac: string;
	token: string;
	user: string;
}

/**
 * Decides whether openNDS may let in a device that signed in (BinAuth). Security: anybody can guess
 * usernames. So MAC address and token (hash: `hid`) must match a captive session on which the pass was bought
 * or opened.
 * @returns whole seconds until the device's end, its speed and the bytes that are left; null to refuse
 */
export async function admitClient(
	context: AccessContext,
	gateway: RegisteredGateway,
	client: OpenndsClient
): Promise<{ seconds: number; speed: Speed; dataLeft: number | null } | null> {
	const { database, clock, jobs } = context;
	const passId = passOfUser(client.user);
	if (passId === null || gateway.mode !== 'browser') return null;
	if (!(await newestLogin(context, gateway, passId, client))?.isThisLogin) return null;
	return database.transact(async (trx: Tx) => {
		const now = clock.now();
		const pass = await lockPass(trx, passId);
		const state = await findPassState(trx, { passId, routerId: gateway.routerId }, now);
		if (!pass || state.kind !== 'runs') return null;
		const order = { pass, gatewayId: gateway.id, mac: client.mac, maxDevices: state.pass.max_devices };
		// openNDS sends no report before it disconnects the device, so the slot counts until the end.
		if (!(await takeSlot(trx, jobs, order, now, state.untilMs))) return null;
		const seconds = Math.max(1, Math.ceil((state.untilMs - now) / 1000));
		return { seconds, speed: readSpeed(state.pass), dataLeft: dataLeft(state.pass) };
	});
}

/** Confirms a device that openNDS has connected for authmon (level 4). Returns false if a later report counts. */
export async function confirmClient(
	context: AccessContext,
	gateway: RegisteredGateway,
	{ mac, token, user }: OpenndsClient
): Promise<boolean> {
	const hid = sha256(token);
	const left = await confirmFetched(context, gateway, hid);
	const passId = passOfUser(user);
	const isRunning = passId !== null && (await confirmPass(context, gateway, { passId, hid, mac }));
	return left.every((id) => isRunning && id === passId);
}

/**
 * Counts the data of a device that openNDS disconnected, and frees its slot unless it has signed in again since. A
 * repeated report changes nothing, unless the device has signed in again.
 * @param bytes of this login, up and down together
 */
export async function endClient(
	context: AccessContext,
	gateway: RegisteredGateway,
	client: OpenndsClient,
	bytes: number
): Promise<void> {
	const { clock } = context;
	const passId = passOfUser(client.user);
	if (passId === null) return;
	const { mac } = client;
	const newest = await newestLogin(context, gateway, passId, client);
	await context.database.transact(async (trx) => {
		const now = clock.now();
		const pass = await lockPass(trx, passId);
		const state = await findPassState(trx, { passId, routerId: gateway.routerId }, now);
		if (!pass || state.kind === 'unknown') return;
		const slot = await findSlot(trx, passId, mac);
		const isHere = slot !== null && slot.gateway_id === gateway.id;
		// Reported already. (A slot that the pass has moved, or given to another device, keeps its end until its report.)
		if (isHere && slot.released_at !== null && slot.expected_until === null) return;
		await countData(context, trx, pass, bytes);
		if (!isHere) return;
		// The script reports in the background: the device may have signed in under a new token meanwhile.
		const isBack = newest !== null && !newest.isThisLogin && slot.bound_at >= newest.createdAt;
		if (!isBack) await changeSlot(trx, slot.id, { released_at: now, expected_until: null });
	});
}

async function newestLogin(
	{ database, clock, captiveSessions }: AccessContext,
	{ id: gatewayId, routerId }: RegisteredGateway,
	passId: number,
	{ mac, token }: OpenndsClient
): Promise<{ isThisLogin: boolean; createdAt: number } | null> {
	const devices = await findDevices(database.db, { id: passId, router_id: routerId }, clock.now());
	const device = devices.find((one) => one.gateway_id === gatewayId && one.mac === mac);
	if (device === undefined) return null;
	const { hid } = await findLogin(captiveSessions, device.captive_session_id);
	return { isThisLogin: hid === sha256(token), createdAt: device.created_at };
}

/** `hid`: with it openNDS identifies the device. */
type FetchedDevice = DeviceLogin & { hid: string; untilMs: number };

const MAX_LOOKED_AT = 100;
const MAX_UNCONFIRMED = 200;
/** A returning device is listed for this long: longer than two polls of a gateway. */
const AGAIN_MS = 90_000;
/** A new end for an online device may wait this long behind devices that are offline. */
const NEW_END_MS = 30_000;

/**
 * Lists the devices that a polling gateway must fetch, and stores the end that each was sent. Never fetched ones come first,
 * then the longest waiting: a gateway never confirms a new end for an online device, so that must not block others.
 * Confirmed devices that return to the portal come last: despite its confirmation, the gateway did not let them in.
 */
export async function fetchDevices(
	context: AccessContext,
	gateway: RegisteredGateway,
	limit: number
): Promise<FetchedDevice[]> {
	const { database, clock } = context;
	const { compared } = await readComparison(context, gateway);
	const wanted = compared.filter(({ open }) => open !== null);
	const isDone = ({ row, open, endMs }: ComparedRow) => open !== null && isEqual(row, open, endMs);
	const waitsSince = ({ row }: ComparedRow) =>
		(row.unanswered_at ?? (row.allowed_at === null ? 0 : row.created_at)) +
		(row.allowed_at === null ? 0 : NEW_END_MS);
	const waiting = wanted.filter((one) => !isDone(one)).sort((a, b) => waitsSince(a) - waitsSince(b));
	const returned = await findReturned(database.db, gateway.id, clock.now() - AGAIN_MS);
	const found: FetchedDevice[] = [];
	for (const { row, open, endMs } of [
		...waiting.slice(0, MAX_LOOKED_AT),
		...wanted.filter((one) => isDone(one) && returned.has(one.row.id))
	]) {
		if (found.length >= limit) break;
		const device = await buildLogin(context, row, open);
		const { hid } = device.login;
		const isReturned = returned.has(row.id);
		const sent = {
			...(hid !== undefined && { sent_until: endMs }),
			unanswered_at: nameCall(context, row)
		};
		// Unless the device has come anew meanwhile.
		const isCurrent = isReturned || (await changeAdmission(database.db, row.id, sent, row.unanswered_at));
		if (isCurrent && hid !== undefined) found.push({ ...device, hid, untilMs: endMs });
	}
	return found;
}

/** Rows of devices that returned to the portal after they were let in, and after `since`. */
async function findReturned(queries: Queries, gatewayId: number, since: number): Promise<Set<number>> {
	const rows = await queries
		.selectFrom('admissions')
		.innerJoin('captive_sessions', (join) =>
			join
				.onRef('captive_sessions.gateway_id', '=', 'admissions.gateway_id')
				.onRef('captive_sessions.client_mac', '=', 'admissions.mac')
				.onRef('captive_sessions.created_at', '>', 'admissions.allowed_at')
		)
		.select('admissions.id')
		.where('admissions.gateway_id', '=', gatewayId)
		.where('admissions.released_at', 'is', null)
		.where('captive_sessions.created_at', '>', since)
		.execute();
	return new Set(rows.map(({ id }) => id));
}

/**
 * Confirms the fetched devices that have this `hid`.
 * @returns passes with such a device that was not fetched: it came back to the portal meanwhile, and a later report counts
 */
async function confirmFetched(
	context: AccessContext,
	gateway: RegisteredGateway,
	hid: string
): Promise<number[]> {
	const left: number[] = [];
	const { compared } = await readComparison(context, gateway);
	const waiting = compared.filter(({ row, open, endMs }) => open && !isEqual(row, open, endMs));
	const newestFirst = waiting.sort((a, b) => (b.row.unanswered_at ?? 0) - (a.row.unanswered_at ?? 0));
	for (const { row } of newestFirst.slice(0, MAX_UNCONFIRMED)) {
		if (!(await isOfDevice(context, row, hid))) continue;
		const to = { allowed_until: row.sent_until, unanswered_at: null };
		const isConfirmed =
			row.sent_until !== null &&
			(await context.database.transact((trx) => confirmAdmission(context, trx, row, to)));
		if (!isConfirmed) left.push(row.pass_id);
	}
	return left;
}

const isOfDevice = async (
	{ captiveSessions }: AccessContext,
	{ captive_session_id: captiveSessionId }: AdmissionRow,
	hid: string
): Promise<boolean> =>
	captiveSessionId !== null && (await findLogin(captiveSessions, captiveSessionId))['hid'] === hid;

/**
 * Starts the time of a pass whose device is in, although it was moved or came anew after the fetch. A
 * polling gateway cannot disconnect the device, and a refund would make its time free. The device takes a slot even if
 * none is free: the MAC address on the portal is only claimed, so a pass would otherwise let in any number of devices.
 * @returns whether the time runs
 */
async function confirmPass(
	context: AccessContext,
	gateway: RegisteredGateway,
	{ passId, hid, mac }: { passId: number; hid: string; mac: string }
): Promise<boolean> {
	const { database, clock, jobs } = context;
	const rows = (await findAdmissions(database.db, passId)).filter((one) => one.gateway_id === gateway.id);
	let reported = rows.at(-1);
	for (const row of rows) if (await isOfDevice(context, row, hid)) reported = row;
	if (!reported) return false;
	const { id } = reported;
	const own = rows.filter((one) => one.mac === mac);
	// The report of a device that the pass has left can come late.
	const hasLeft = own.length > 0 && own.every(({ released_at: at }) => at !== null);
	return database.transact(async (trx) => {
		const now = clock.now();
		const pass = await lockPass(trx, passId);
		const open = await findOpenPass(trx, passId, now);
		if (!pass || !open) return false;
		if (open.kind === 'waits' && !(await startTime(context, trx, pass))) return false;
		const { ends_at: endsAt } = await findPassOrThrow(trx, passId);
		if (!hasLeft) {
			await takeSlot(trx, jobs, { pass, gatewayId: gateway.id, mac, maxDevices: Infinity }, now, endsAt);
		}
		const isConfirmed = rows.some((one) => (one.allowed_until ?? 0) > now + SLACK_MS);
		if (open.kind === 'runs' && isConfirmed && !hasLeft) return true;
		await changeAdmission(trx, id, { allowed_until: endsAt });
		await schedulePassComparisons(context, trx, passId);
		return true;
	});
}
