import { z } from 'zod';
import {
	Unavailable,
	type DeviceController,
	type DeviceLogin,
	type GatewayFacts,
	type GatewayTransport
} from '../gateway.ts';
import { isUnlimited, routerOsRate } from '../held-limits.ts';
import { callVendorApi, orProblem, type VendorResponse, type Call } from '../vendor-api.ts';

/**
 * Controls RouterOS 7 through its REST API (help.mikrotik.com, "REST API"). PUT adds, PATCH changes, DELETE
 * removes. Every value is a string; ids look like `*1F`.
 *
 * Users: a pass is a hotspot user; the sign-in happens in the browser. `limit-uptime` counts the online time
 * of all its devices together. It is set to the used time plus the remaining time of each device. At the end
 * we remove the user with its cookies and connections.
 * Ownership: the comment of our users names the installation. Users without it belong to the owner or to
 * another installation. We never change them.
 * Data: the counters of a user are deleted with the user. RouterOS may update them only when
 * a device signs out (undocumented), so an offer with data is for one device. `limit-bytes-total` is what they show plus
 * what is left; 0 would be no limit.
 * Profiles: one per device limit (`airtill-1`, ...) sets `shared-users`. Owners may add a rate limit to it. A pass with a
 * speed has a profile of its own kind (`airtill-1-512k-2000k`), whose `rate-limit` is read back before users get it.
 */

const commentOf = ({ installation }: GatewayFacts) => `Airtill ${installation}`;
const MAX_ROWS = 50;

const rowsShape = z.array(
	z.looseObject({
		'.id': z.string(),
		uptime: z.string().optional(),
		comment: z.string().optional(),
		'bytes-in': z.string().default('0'),
		'bytes-out': z.string().default('0')
	})
);
type Row = z.output<typeof rowsShape>[number];

const clockShape = z.looseObject({
	date: z.string(),
	time: z.string(),
	'gmt-offset': z.string().optional()
});

const USERS = 'ip/hotspot/user';
const PROFILES = 'ip/hotspot/user/profile';
const ACTIVE = 'ip/hotspot/active';
const COOKIES = 'ip/hotspot/cookie';
const HOSTS = 'ip/hotspot/host';

type Rest = ReturnType<typeof createRest>;

function createRest(facts: GatewayFacts, transport: GatewayTransport) {
	const { apiUser = '', apiKey = '' } = facts.credentials;
	const authorization = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`;
	const call = (method: Call['method'], path: string, body?: Record<string, string>) =>
		callVendorApi({ method, path, headers: { authorization }, ...(body && { body }) }, facts, transport);

	/** Filters the rows again, because a proxy may drop the query. */
	async function find(menu: string, property: string, value: string): Promise<Row[]> {
		const answer = await call('GET', `/${menu}?${new URLSearchParams({ [property]: value }).toString()}`);
		const rows = rowsShape.safeParse(answer.body);
		if (answer.status !== 200 || !rows.success) throw new Unavailable(explain(answer));
		return property.startsWith('.') ? rows.data : rows.data.filter((row) => row[property] === value);
	}

	/** Returns false if the row is missing (PATCH, DELETE) or already exists (PUT). */
	async function change(method: 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Record<string, string>) {
		const answer = await call(method, path, body);
		if (answer.status >= 200 && answer.status < 300) return true;
		if (answer.status === 404) return false;
		if (answer.status === 400 && /already have/i.test(detailOf(answer))) return false;
		throw new Unavailable(explain(answer));
	}

	async function remove(menu: string, rows: readonly Row[]): Promise<void> {
		for (const row of rows.slice(0, MAX_ROWS)) await change('DELETE', `/${menu}/${row['.id']}`);
	}

	return { call, find, change, remove };
}

async function ensureProfile(rest: Rest, { maxDevices, speed }: DeviceLogin): Promise<string> {
	const rate = isUnlimited(speed) ? null : routerOsRate(speed);
	const name = `airtill-${maxDevices}${rate === null ? '' : `-${rate.replace('/', '-')}`}`;
	const values = { 'shared-users': String(maxDevices), ...(rate !== null && { 'rate-limit': rate }) };
	const isKept = (row: Row | undefined) =>
		row !== undefined && (rate === null || isSameRate(row['rate-limit'], rate));
	const [found] = await rest.find(PROFILES, 'name', name);
	if (isKept(found)) return name;
	await (found
		? rest.change('PATCH', `/${PROFILES}/${found['.id']}`, values)
		: rest.change('PUT', `/${PROFILES}`, { name, ...values }));
	if (rate === null || isKept((await rest.find(PROFILES, 'name', name))[0])) return name;
	throw new Unavailable(`RouterOS did not keep the rate limit ${rate} of the profile "${name}".`);
}

/** RouterOS may write `5000k` as `5M` or as `5000000`. */
const isSameRate = (kept: unknown, rate: string): boolean =>
	typeof kept === 'string' && bitsOf(kept) === bitsOf(rate);

const bitsOf = (rate: string) => rate.replaceAll('M', '000k').replaceAll('k', '000');

/** Finds our users for a pass, one per hotspot server. Returns null if the name belongs to another user. */
async function usersOf(rest: Rest, { user: name }: DeviceLogin, facts: GatewayFacts): Promise<Row[] | null> {
	const found = await rest.find(USERS, 'name', name);
	const own = found.filter(({ comment }) => comment === commentOf(facts));
	return own.length === 0 && found.length > 0 ? null : own;
}

const used = (rows: readonly Row[]) =>
	rows.reduce((sum, { uptime }) => sum + routerSeconds(uptime ?? '0s'), 0);

const bytesOf = (rows: readonly Row[]) =>
	rows.reduce((sum, row) => sum + Number(row['bytes-in']) + Number(row['bytes-out']), 0);

const connect: DeviceController['connect'] = async (device, untilMs, facts, transport) => {
	const rest = createRest(facts, transport);
	const profile = await ensureProfile(rest, device);
	const secondsLeft = () => Math.max(1, Math.ceil((untilMs - transport.now()) / 1000));
	for (let tries = 0; tries < 2; tries += 1) {
		if (await setUser(rest, device, { profile, secondsLeft }, facts)) return 'done';
	}
	throw new Unavailable('Another program changes the users of this hotspot at the same time.');
};

/** Adds or changes the user of a pass. Returns false if it was added or removed meanwhile. */
async function setUser(
	rest: Rest,
	device: DeviceLogin,
	{ profile, secondsLeft }: { profile: string; secondsLeft: () => number },
	facts: GatewayFacts
): Promise<boolean> {
	const { user: name, password, maxDevices, dataLeft } = device;
	const comment = commentOf(facts);
	const users = await usersOf(rest, device, facts);
	if (users === null) {
		throw new Unavailable(
			`The hotspot has its own user "${name}" (its comment is not "${comment}"). Rename that user.`
		);
	}
	const [user] = users;
	// `uptime` may include the open connection (undocumented).
	// Too long is safe: we remove the user at the end.
	const active = user ? await rest.find(ACTIVE, 'user', name) : [];
	const uptime = `${used(users) + used(active) + secondsLeft() * maxDevices}s`;
	const bytes = dataLeft === null ? null : String(bytesOf(users) + Math.max(1, dataLeft));
	const wanted = {
		...{ comment, password, profile, 'limit-uptime': uptime, disabled: 'false' },
		...(bytes !== null && { 'limit-bytes-total': bytes })
	};
	const isSet = user
		? await rest.change('PATCH', `/${USERS}/${user['.id']}`, wanted)
		: await rest.change('PUT', `/${USERS}`, { name, ...wanted });
	if (!isSet || bytes === null) return isSet;
	const kept = await rest.find(USERS, 'name', name);
	if (kept.some((row) => row['limit-bytes-total'] === bytes)) return true;
	throw new Unavailable(`RouterOS did not keep the data limit of the user "${name}".`);
}

/** Removes the user first, or the device would sign in again. */
const disconnect: DeviceController['disconnect'] = async (device, facts, transport) => {
	const rest = createRest(facts, transport);
	const users = await usersOf(rest, device, facts);
	// Connections under this name belong to the other user.
	if (users === null) return 'done';
	await rest.remove(USERS, users);
	for (const menu of [COOKIES, ACTIVE]) {
		await rest.remove(menu, await rest.find(menu, 'user', device.user));
	}
	return 'done';
};

const usage: DeviceController['usage'] = async (device, facts, transport) => {
	const users = await usersOf(createRest(facts, transport), device, facts);
	return users === null || users.length === 0 ? null : bytesOf(users);
};

/** RouterOS may translate the address of a device that has its own (`to-address`). */
const sees: DeviceController['sees'] = async ({ mac, ip }, facts, transport) => {
	const hosts = await createRest(facts, transport).find(HOSTS, 'mac-address', mac.toUpperCase());
	return hosts.some(
		({ address = ip, 'to-address': translated }) => ip !== null && [address, translated].includes(ip)
	);
};

const status: DeviceController['status'] = async (facts, transport) => {
	const rest = createRest(facts, transport);
	const sentAt = transport.now();
	const clock = await rest.call('GET', '/system/clock');
	const at = (sentAt + transport.now()) / 2;
	const parsed = clockShape.safeParse(clock.body);
	if (clock.status !== 200 || !parsed.success) {
		const problems = [explain(clock)];
		return { problems, reachable: true, isUsable: false, clockOffsetMs: null, online: null };
	}
	const time = routerTime(parsed.data);
	const problems: string[] = [];
	const active = await orProblem(problems, rest.find(ACTIVE, '.proplist', '.id'));
	await orProblem(problems, rest.find(USERS, 'comment', commentOf(facts)));
	return {
		problems,
		reachable: true,
		isUsable: problems.length === 0,
		clockOffsetMs: time === null ? null : time - at,
		online: active?.length ?? null
	};
};

export const mikrotikController: DeviceController = {
	...{ subject: 'user', connect, disconnect, usage, status, sees }
};

const errorShape = z.looseObject({ message: z.string().optional(), detail: z.string().optional() });

function detailOf({ body }: VendorResponse): string {
	const error = errorShape.safeParse(body);
	return error.success ? (error.data.detail ?? error.data.message ?? '') : '';
}

/** Leaves out RouterOS' own message, because it may repeat what we sent. */
function explain(answer: VendorResponse): string {
	const { status } = answer;
	const detail = detailOf(answer);
	if (status === 401)
		return 'RouterOS rejected the username or password of its API. Check --api-user and --api-key-file.';
	if (status === 403 || /not enough permissions/i.test(detail)) {
		return 'The RouterOS user lacks permission. Its group needs the policies read, write and rest-api.';
	}
	if (/device-mode/i.test(detail)) return 'The device-mode of RouterOS does not allow the hotspot.';
	if (/no such command/i.test(detail))
		return 'RouterOS does not know this menu. Use RouterOS 7 with the hotspot package.';
	if (status === 200) return 'The response does not come from RouterOS 7. Check the address.';
	return `RouterOS responded with status ${status}.`;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** Reads a duration such as `1w2d3h4m5s` or `1d01:02:03`. Returns seconds. */
function routerSeconds(text: string): number {
	const units = text.replace(/(\d+):(\d+):(\d+)$/, '$1h$2m$3s').matchAll(/(\d+)([wdhms])/g);
	return [...units].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 0), 0);
}

/** Reads /system/clock of RouterOS 7.10 and newer. @returns ms since the epoch, or null */
function routerTime({ date, time, 'gmt-offset': offset = '+00:00' }: z.output<typeof clockShape>) {
	const at = Date.parse(`${date}T${time}${offset}`);
	return Number.isNaN(at) ? null : at;
}
