import { z } from 'zod';
import type {
	GatewayFacts,
	GatewayStatus,
	DeviceLogin,
	Reach,
	CommandResult,
	DeviceController
} from '../gateway.ts';
import { callOwnApi, unavailable, type Call, type Called } from '../own-api.ts';

/**
 * RouterOS 7 by its REST API (help.mikrotik.com, "REST API"): PUT adds, PATCH changes, DELETE removes, every value is a
 * text, ids look like `*1F`. A pass is a user of the hotspot; the sign-in goes on in the browser. `limit-uptime` counts
 * what a user was online, all its devices together, not until when: it is set to what was used, and what is left for
 * each device, and at the end the user is removed, with its cookies and connections. Our users say so in their comment,
 * with the installation that they are of; any other user is its owner's, or another installation's, whatever its name,
 * and stays as it is. How many devices may share it is said by a profile of our own for each number, `airtill-1`, which
 * owners may give a rate limit.
 */

/** On every user that is ours; those of older versions have nothing but the name. */
const UNMARKED = 'Airtill';
const commentOf = ({ installation }: GatewayFacts) => `${UNMARKED} ${installation}`;
/** Connections, or cookies, of one user. */
const MAX_ROWS = 50;

const rowsShape = z.array(
	z.looseObject({ '.id': z.string(), uptime: z.string().optional(), comment: z.string().optional() })
);
type Row = z.output<typeof rowsShape>[number];

const clockShape = z.looseObject({
	date: z.string(),
	time: z.string(),
	'gmt-offset': z.string().optional()
});

type Outcome<T> = { kind: 'done'; value: T } | { kind: 'unavailable'; reason: string };
const done = <T>(value: T) => ({ kind: 'done' as const, value });

function createRest(facts: GatewayFacts, reach: Reach) {
	const { apiUser = '', apiKey = '' } = facts.credentials;
	const authorization = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`;
	const call = (method: Call['method'], path: string, body?: Record<string, string>): Promise<Called> =>
		callOwnApi({ method, path, headers: { authorization }, ...(body && { body }) }, facts, reach);

	/** Rows of a menu whose property has a value; what is between may have dropped that question and sent them all. */
	async function find(menu: string, property: string, value: string): Promise<Outcome<Row[]>> {
		const answer = await call('GET', `/${menu}?${new URLSearchParams({ [property]: value }).toString()}`);
		if (answer.kind === 'unavailable') return answer;
		const rows = answer.status === 200 ? rowsShape.safeParse(answer.body) : null;
		if (!rows?.success) return unavailable(explain(answer));
		return done(property.startsWith('.') ? rows.data : rows.data.filter((row) => row[property] === value));
	}

	/** One change; `missing` is what a row that is gone means. */
	async function change(
		method: 'PUT' | 'PATCH' | 'DELETE',
		path: string,
		body?: Record<string, string>
	): Promise<Outcome<'changed' | 'missing' | 'exists'>> {
		const answer = await call(method, path, body);
		if (answer.kind === 'unavailable') return answer;
		if (answer.status >= 200 && answer.status < 300) return done('changed');
		if (answer.status === 404) return done('missing');
		if (answer.status === 400 && /already have/i.test(detailOf(answer))) return done('exists');
		return unavailable(explain(answer));
	}

	async function remove(menu: string, rows: readonly Row[]): Promise<Outcome<null>> {
		for (const row of rows.slice(0, MAX_ROWS)) {
			const removed = await change('DELETE', `/${menu}/${row['.id']}`);
			if (removed.kind === 'unavailable') return removed;
		}
		return done(null);
	}

	return { call, find, change, remove };
}

const USERS = 'ip/hotspot/user';
const PROFILES = 'ip/hotspot/user/profile';
const ACTIVE = 'ip/hotspot/active';
const COOKIES = 'ip/hotspot/cookie';

async function ensureProfile(
	rest: ReturnType<typeof createRest>,
	maxDevices: number
): Promise<Outcome<string>> {
	const name = `airtill-${maxDevices}`;
	const known = await rest.find(PROFILES, 'name', name);
	if (known.kind === 'unavailable') return known;
	if (known.value.length > 0) return done(name);
	const made = await rest.change('PUT', `/${PROFILES}`, { name, 'shared-users': String(maxDevices) });
	return made.kind === 'unavailable' ? made : done(name);
}

/** Users of a name: for several servers of its hotspot there may be one each. */
async function usersOf(
	rest: ReturnType<typeof createRest>,
	{ user: name, mayBeUnmarked }: DeviceLogin,
	facts: GatewayFacts
): Promise<Outcome<Users>> {
	const found = await rest.find(USERS, 'name', name);
	if (found.kind === 'unavailable') return found;
	const own = found.value.filter(
		({ comment }) => comment === commentOf(facts) || (mayBeUnmarked && comment === UNMARKED)
	);
	return done({ own, isTaken: own.length === 0 && found.value.length > 0 });
}

/** `isTaken`: somebody else's user has the name. */
interface Users {
	own: Row[];
	isTaken: boolean;
}

const used = (rows: readonly Row[]) =>
	rows.reduce((sum, { uptime }) => sum + routerSeconds(uptime ?? '0s'), 0);

async function authorize(
	device: DeviceLogin,
	untilMs: number,
	facts: GatewayFacts,
	reach: Reach
): Promise<CommandResult> {
	const rest = createRest(facts, reach);
	const profile = await ensureProfile(rest, device.maxDevices);
	if (profile.kind === 'unavailable') return profile;
	// Twice: it may be made meanwhile, or removed, by hand.
	for (let tries = 0; tries < 2; tries += 1) {
		const found = await usersOf(rest, device, facts);
		if (found.kind === 'unavailable') return found;
		if (found.value.isTaken) return unavailable(takenText(device, facts));
		const [user] = found.value.own;
		// Whether a user's uptime counts the connection that it has now is not documented: better too long, the end is ours.
		const active = user ? await rest.find(ACTIVE, 'user', device.user) : done([]);
		if (active.kind === 'unavailable') return active;
		const left = Math.max(1, Math.ceil((untilMs - reach.now()) / 1000));
		const wanted = {
			comment: commentOf(facts),
			password: device.password,
			profile: profile.value,
			'limit-uptime': `${used(found.value.own) + used(active.value) + left * device.maxDevices}s`,
			disabled: 'false'
		};
		const changed = user
			? await rest.change('PATCH', `/${USERS}/${user['.id']}`, wanted)
			: await rest.change('PUT', `/${USERS}`, { name: device.user, ...wanted });
		if (changed.kind === 'unavailable') return changed;
		if (changed.value === 'changed') return { kind: 'done' };
	}
	return unavailable('Somebody else is changing the users of this hotspot.');
}

const takenText = ({ user }: DeviceLogin, facts: GatewayFacts) =>
	`The hotspot has a user "${user}" without the comment "${commentOf(facts)}", which is not ours to change: give it another name.`;

/** The user first: what is put out would sign in again. */
async function disconnect(device: DeviceLogin, facts: GatewayFacts, reach: Reach): Promise<CommandResult> {
	const rest = createRest(facts, reach);
	const { user } = device;
	const found = await usersOf(rest, device, facts);
	if (found.kind === 'unavailable') return found;
	// Who is online under the name of somebody else's user is that one.
	if (found.value.isTaken) return { kind: 'done' };
	const users = await rest.remove(USERS, found.value.own);
	if (users.kind === 'unavailable') return users;
	for (const menu of [COOKIES, ACTIVE]) {
		const rows = await rest.find(menu, 'user', user);
		if (rows.kind === 'unavailable') return rows;
		const removed = await rest.remove(menu, rows.value);
		if (removed.kind === 'unavailable') return removed;
	}
	return { kind: 'done' };
}

async function status(facts: GatewayFacts, reach: Reach): Promise<GatewayStatus> {
	const rest = createRest(facts, reach);
	const sentAt = reach.now();
	const clock = await rest.call('GET', '/system/clock');
	const at = (sentAt + reach.now()) / 2;
	if (clock.kind === 'unavailable') {
		return { problems: [clock.reason], reachable: false, clockOffsetMs: null, online: null };
	}
	const told = clock.status === 200 ? clockShape.safeParse(clock.body) : null;
	if (!told?.success) {
		return { problems: [explain(clock)], reachable: true, clockOffsetMs: null, online: null };
	}
	const time = routerTime(told.data);
	const active = await rest.find(ACTIVE, '.proplist', '.id');
	const users = await rest.find(USERS, 'comment', commentOf(facts));
	const problems = [active, users].flatMap((found) => (found.kind === 'unavailable' ? [found.reason] : []));
	return {
		problems: [...new Set(problems)],
		reachable: true,
		clockOffsetMs: time === null ? null : time - at,
		online: active.kind === 'done' ? active.value.length : null
	};
}

export const mikrotikController: DeviceController = { subject: 'user', authorize, disconnect, status };

const errorShape = z.looseObject({ message: z.string().optional(), detail: z.string().optional() });

function detailOf({ body }: { body: unknown }): string {
	const error = errorShape.safeParse(body);
	return error.success ? (error.data.detail ?? error.data.message ?? '') : '';
}

/** Its own words are not repeated: they may hold what was sent. */
function explain(answer: { status: number; body: unknown }): string {
	const { status } = answer;
	const detail = detailOf(answer);
	if (status === 401) return 'RouterOS refused the user name or the password of its API.';
	if (status === 403 || /not enough permissions/i.test(detail)) {
		return "RouterOS' user may not do this: its group needs the policies read, write and rest-api.";
	}
	if (/device-mode/i.test(detail)) return "RouterOS' device-mode does not allow the hotspot.";
	if (/no such command/i.test(detail))
		return 'RouterOS knows no such menu: is it version 7, with the hotspot package?';
	if (status === 200) return 'Its answer is not one of RouterOS 7: is the address right?';
	return `RouterOS answered with status ${status}.`;
}

/** `1w2d3h4m5s`, or `01:02:03` behind it. */
export function routerSeconds(text: string): number {
	const [, weeks, days, hours, minutes, seconds] =
		/^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text.replace(/\d+:\d+:\d+$/, '')) ?? [];
	const [, h, m, s] = /(\d+):(\d+):(\d+)$/.exec(text) ?? [];
	const number = (part: string | undefined) => Number(part ?? 0);
	return (
		((number(weeks) * 7 + number(days)) * 24 + number(hours) + number(h)) * 3600 +
		(number(minutes) + number(m)) * 60 +
		number(seconds) +
		number(s)
	);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `2026-11-21`, or `nov/21/2026` before 7.10, with its offset from UTC. @returns epoch milliseconds, or null */
export function routerTime(clock: {
	date: string;
	time: string;
	'gmt-offset'?: string | undefined;
}): number | null {
	const [, month = '', day, year] = /^([a-z]{3})\/(\d{2})\/(\d{4})$/i.exec(clock.date) ?? [];
	const number = String(MONTHS.indexOf(month.toLowerCase()) + 1).padStart(2, '0');
	const date = year === undefined ? clock.date : `${year}-${number}-${day}`;
	const offset = /^[+-]\d{2}:\d{2}$/.test(clock['gmt-offset'] ?? '') ? clock['gmt-offset'] : '+00:00';
	const time = Date.parse(`${date}T${clock.time}${offset}`);
	return Number.isNaN(time) ? null : time;
}
