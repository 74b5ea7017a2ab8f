import { createHash } from 'node:crypto';
import { normaliseIp } from '#lib/domain/address.ts';
import {
	type ConfigContext,
	type ConfigPart,
	type DeviceController,
	type DeviceLogin,
	refuseEntry,
	type EntryRequest,
	type GatewayAdapter,
	type GatewayFacts,
	type GatewayTransport,
	checkSize,
	classifyProblem,
	decodeText,
	findPlaceholders,
	formatRouterOsRate,
	isUnlimited,
	parseClientMac,
	parseWebAddress,
	readField,
	requireRegisteredHost
} from './gateway.ts';
import { z } from 'zod';
import { type Call, type VendorResponse, callVendorApi, describeUnusable, orProblem } from './vendor-api.ts';
import { freeRadius } from './freeradius.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';

/**
 * MikroTik hotspot (help.mikrotik.com, "HotSpot customisation").
 *
 * Redirect: its `login.html` sends `$(variables)`, each as it is or in its `-esc` form, by form or query.
 * Sign-in: GET or POST to `link-login-only`; we redirect with GET. With HTTP CHAP the password is
 * `md5_hex(chap-id || password || chap-challenge)`. Both variables are octal-escaped, for example `\371`.
 */

const LOGIN_PATH = '/login';
const DEFAULT_PORT = 80;
/** RouterOS uses 16; the length is one octet (RFC 1994). */
const MAX_CHALLENGE_BYTES = 255;

/** Reads a field or its `-esc` form. The query is already decoded, a form field is not. */
function read({ method, fields }: EntryRequest, name: string): string {
	const plain = readField(fields, name);
	if (plain !== '') return plain;
	const escaped = readField(fields, `${name}-esc`);
	return method === 'POST' ? decodeText(escaped) : escaped;
}

/** Reads without trimming, because any byte may be part of a challenge. */
function readRaw({ method, fields }: EntryRequest, name: string): string {
	const escaped = fields.get(`${name}-esc`) ?? '';
	return fields.get(name) || (method === 'POST' ? decodeText(escaped) : escaped);
}

function octalBytes(text: string): Buffer {
	const bytes: number[] = [];
	for (const [part] of text.matchAll(/\\[0-3][0-7]{2}|\\\\|[^]/g)) {
		if (part.length === 4) bytes.push(Number.parseInt(part.slice(1), 8));
		else bytes.push(part.charCodeAt(part.length - 1) & 0xff);
	}
	return Buffer.from(bytes);
}

function loginAddress(text: string, facts: GatewayFacts): string {
	if (text === '') throw refuseEntry('missing', 'link-login-only is missing');
	if (!URL.canParse(text)) throw refuseEntry('broken', 'link-login-only is not a URL');
	const { protocol, hostname, port, pathname, username, password } = new URL(text);
	if (protocol !== 'http:' && protocol !== 'https:') {
		throw refuseEntry('foreign-host', `${protocol} is not http or https`);
	}
	const usual = protocol === 'https:' ? 443 : DEFAULT_PORT;
	requireRegisteredHost(facts, port === '' ? hostname : `${hostname}:${port}`, usual);
	if (pathname !== LOGIN_PATH || username !== '' || password !== '') {
		throw refuseEntry('foreign-host', `${pathname} is not the sign-in page of a hotspot`);
	}
	return `${protocol}//${hostname}${port === '' ? '' : `:${port}`}${LOGIN_PATH}`;
}

function chapOf(request: EntryRequest): Record<string, string> {
	const bytes = (name: string) => octalBytes(read(request, name) === '' ? '' : readRaw(request, name));
	const [id, challenge] = [bytes('chap-id'), bytes('chap-challenge')];
	if (id.length === 0 && challenge.length === 0) return {};
	if (id.length !== 1 || challenge.length === 0 || challenge.length > MAX_CHALLENGE_BYTES) {
		throw refuseEntry('broken', 'The CHAP challenge is invalid');
	}
	return { chapId: id.toString('hex'), challenge: challenge.toString('hex') };
}

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

export function nameProfile({ maxDevices, speed }: DeviceLogin): string {
	const rate = isUnlimited(speed) ? '' : `-${formatRouterOsRate(speed).replace('/', '-')}`;
	return `airtill-${maxDevices}${rate}`;
}

async function ensureProfile(rest: Rest, device: DeviceLogin): Promise<string> {
	const { maxDevices, speed } = device;
	const rate = isUnlimited(speed) ? null : formatRouterOsRate(speed);
	const name = nameProfile(device);
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
	const bytes = dataLeft === null ? null : String(countBytes(users, active) + Math.max(1, dataLeft));
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
	const rest = createRest(facts, transport);
	const users = await usersOf(rest, device, facts);
	if (users === null || users.length === 0) return null;
	return countBytes(users, await rest.find(ACTIVE, 'user', device.user));
};

/** The bytes of a user may not include its open connections (undocumented): neither counts twice. */
const countBytes = (users: readonly Row[], active: readonly Row[]): number =>
	Math.max(bytesOf(users), bytesOf(active));

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
	if (clock.status !== 200 || !parsed.success) return describeUnusable(explain(clock), true);
	const time = routerTime(parsed.data);
	const problems: string[] = [];
	const active = await orProblem(problems, rest.find(ACTIVE, '.proplist', '.id'));
	const users = await orProblem(problems, rest.find(USERS, 'comment', commentOf(facts)));
	const names = users?.map((row) => String(row['name']));
	return {
		problems,
		reachable: true,
		isUsable: problems.length === 0,
		clockOffsetMs: time === null ? null : time - at,
		online: active?.length ?? null,
		reading: names ? { letsIn: ({ user }) => names.includes(user), users: names } : null
	};
};

const mikrotikController: DeviceController = {
	...{ subject: 'user', connect, disconnect, usage, status, sees }
};

export const mikrotik: GatewayAdapter = {
	title: 'MikroTik hotspot',
	secretName: null,
	defaultPort: DEFAULT_PORT,
	startPath: LOGIN_PATH,
	controlMode: ({ settings }) => (settings.control === 'rest' ? 'push' : 'radius'),
	controller: mikrotikController,
	configFor: mikrotikConfig,

	parseEntry(request, facts) {
		checkSize(request);
		const error = read(request, 'error');
		const isOnline = read(request, 'logged-in') === 'yes';
		return {
			state: isOnline ? 'online' : error === '' ? 'new' : 'refused',
			problem: isOnline || error === '' ? null : classifyProblem(error),
			clientMac: parseClientMac(read(request, 'mac')),
			clientIp: normaliseIp(read(request, 'ip')),
			originalUrl: parseWebAddress(read(request, 'link-orig')),
			login: isOnline
				? {}
				: { address: loginAddress(read(request, 'link-login-only'), facts), ...chapOf(request) }
		};
	},

	signInUrl({ login }, { user, password, landing }, facts) {
		const url = new URL(loginAddress(login['address'] ?? '', facts));
		const { chapId, challenge } = login;
		url.searchParams.set('username', user);
		url.searchParams.set(
			'password',
			chapId === undefined || challenge === undefined
				? password
				: createHash('md5').update(chapId, 'hex').update(password).update(challenge, 'hex').digest('hex')
		);
		url.searchParams.set('dst', landing);
		// Mini-browsers cannot open the status window.
		url.searchParams.set('popup', 'false');
		return url.href;
	}
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

/** Characters of a duration: an answer from outside can have thousands, each of which would be tried as the first. */
const MAX_DURATION = 40;

/** Reads a duration such as `1w2d3h4m5s` or `1d01:02:03`. Returns seconds. */
function routerSeconds(text: string): number {
	const short = text.slice(0, MAX_DURATION);
	const units = short.replace(/(\d+):(\d+):(\d+)$/, '$1h$2m$3s').matchAll(/(\d+)([wdhms])/g);
	return [...units].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 0), 0);
}

/** Reads /system/clock of RouterOS 7.10 and newer. @returns ms since the epoch, or null */
function routerTime({ date, time, 'gmt-offset': offset = '+00:00' }: z.output<typeof clockShape>) {
	const at = Date.parse(`${date}T${time}${offset}`);
	return Number.isNaN(at) ? null : at;
}

/**
 * Returns a script for `/import`, the page `login.html`, and the RADIUS server if the hotspot uses one. The
 * administrator runs `/ip hotspot setup` first, because interfaces and addresses differ between routers.
 */
function mikrotikConfig(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	const isRest = facts.settings.control === 'rest';
	const commands = script(facts, context, isRest);
	const unknown = findPlaceholders(commands);
	const head = `# ${context.gateway.name}: written by "airtill gateways config". Contains secrets: delete the file after /import.`;
	const stop = `# Stops before any change.
:error "airtill.rsc: put in what is not known (${unknown.map(({ name }) => name).join(', ')}), and take this line out"`;
	const text = [head, ...(unknown.length > 0 ? [stop] : []), commands].join('\n');
	return [
		{ title: 'MikroTik: what to do', file: null, text: steps(unknown, isRest) },
		{ title: 'MikroTik: script', file: 'airtill.rsc', text },
		{ title: 'MikroTik: login.html', file: 'hotspot/login.html', text: formatLoginPage(context) },
		...(isRest ? [] : freeRadius(facts, context))
	];
}

/** Escape sequences of RouterOS 6 and 7 (help.mikrotik.com, "Scripting"). */
export const quoteRouterOs = (text: string) =>
	`"${text.replace(/[\\"$?]/g, '\\$&').replaceAll('\n', '\\n')}"`;

function steps(unknown: ReturnType<typeof findPlaceholders>, isRest: boolean): string {
	return [
		...(unknown.length === 0
			? []
			: [
					'0. Replace these placeholders in the files, and remove the line with ":error" from airtill.rsc:',
					...unknown.map(({ name, what }) => `   ${name}: ${what}`)
				]),
		'1. Set up the hotspot on the interface of the guests, if there is none: /ip hotspot setup',
		'   (newer devices: /system device-mode update hotspot=yes, confirmed by the button on the device).',
		'2. Upload airtill.rsc under Files, read it, and run: /import file-name=airtill.rsc',
		'   It changes every hotspot profile; if there are several, replace [find] with the name of one.',
		'   It drops IPv6 from the interfaces of hotspots, which control only IPv4: run it again after you add a hotspot.',
		'3. Replace login.html in the folder "hotspot" (or flash/hotspot) with this login.html.',
		...(isRest
			? [
					'4. Switch on the service www-ssl (or www in a private network) for the REST API, only for the address of this',
					'   installation: /ip service set www-ssl disabled=no certificate=NAME address=ADDRESS'
				]
			: ['4. Set up the RADIUS server with the other parts.']),
		'5. Open the router for sale, and buy an hour with a phone on that Wi-Fi.'
	].join('\n');
}

function script(facts: GatewayFacts, context: ConfigContext, isRest: boolean): string {
	const { gateway, portal, radiusServer } = context;
	const { hostname } = portal;
	const name = `airtill-${gateway.name}`;
	const { credentials, settings } = facts;
	const api = portal.protocol === 'https:' ? `${portal.origin}/captive-portal/${gateway.key}` : null;
	const radius = [
		'# The RADIUS server. Running the script again replaces it.',
		`/radius remove [find comment=${name}]`,
		`/radius add service=hotspot address=${radiusServer} secret=${quoteRouterOs(credentials.radiusSecret ?? '')} timeout=3s comment=${name}`,
		'# Disconnect-Requests (RFC 5176): a pass that is ended early ends at once.',
		`/radius incoming set accept=yes port=${settings.nasPort ?? 3799}`,
		'/ip hotspot profile set [find] use-radius=yes radius-accounting=yes radius-interim-update=1m'
	];
	const user = quoteRouterOs(credentials.apiUser ?? '');
	const rest = [
		'# The user with which Airtill adds and removes the users of the hotspot.',
		`:if ([:len [/user group find name=airtill]] = 0) do={/user group add name=airtill policy=read,write,rest-api,api}`,
		`/user remove [find name=${user}]`,
		`/user add name=${user} group=airtill password=${quoteRouterOs(credentials.apiKey ?? '')} comment=${name}`,
		'/ip hotspot profile set [find] use-radius=no'
	];
	return `${[
		'',
		'# A cookie for the device: added time continues without another sign-in.',
		'/ip hotspot profile set [find] login-by=http-chap,http-pap,mac-cookie html-directory=hotspot',
		'/ip hotspot user profile set [find] add-mac-cookie=yes mac-cookie-timeout=3d',
		'',
		...(isRest ? rest : radius),
		'',
		'# Reachable before a sign-in: only the portal, never the pages with which phones detect the internet.',
		`/ip hotspot walled-garden remove [find comment=${name}]`,
		`/ip hotspot walled-garden add dst-host=${hostname} action=allow comment=${name}`,
		`/ip hotspot walled-garden ip remove [find comment=${name}]`,
		`/ip hotspot walled-garden ip add dst-host=${hostname} action=accept comment=${name}`,
		'',
		...(api === null
			? ['# DHCP option 114 is not set: devices accept only https addresses (RFC 8908).']
			: [
					'# Only if this router does not translate addresses (NAT) between its devices and the portal: phones open the portal',
					'# automatically (RFC 8910). With NAT all devices have one address, and phones that paid would ask to sign in for ever.',
					'# Put in the network of the hotspot.',
					`# /ip dhcp-server option add name=${name} code=114 value="s'${api}'"`,
					`# /ip dhcp-server network set [find address=10.5.50.0/24] dhcp-option=${name}`
				]),
		'',
		'# The hotspot controls only IPv4: drop IPv6, with which devices would be online unpaid. This is the last command, because',
		'# RouterOS 6 without the package "ipv6" does not know it: ignore an error here.',
		`/ipv6 firewall raw remove [find comment=${name}]`,
		`:foreach hotspot in=[/ip hotspot find] do={/ipv6 firewall raw add chain=prerouting in-interface=[/ip hotspot get $hotspot interface] action=drop comment=${name}}`
	].join('\n')}\n`;
}

const FIELDS = [
	'mac',
	'ip',
	'identity',
	'link-login-only',
	'link-orig',
	'chap-id',
	'chap-challenge',
	'error'
] as const;

/** Returns a page that submits itself, or has a button without scripts. The router fills in its variables. */
export function formatLoginPage({ portal, gateway }: Pick<ConfigContext, 'portal' | 'gateway'>): string {
	const action = `${portal.origin}/splash/${gateway.key}`;
	const inputs = FIELDS.map((name) => `<input type="hidden" name="${name}" value="$(${name})">`);
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="cache-control" content="no-store">
<title>Wi-Fi</title>
</head>
<body>
<form id="r" name="r" action="${action}" method="post">
${inputs.join('\n')}
<input type="hidden" name="server" value="$(server-name)">
<input type="hidden" name="logged-in" value="$(logged-in)">
<noscript><button>Continue to the Wi-Fi</button></noscript>
</form>
<script>document.getElementById('r').submit()</script>
</body>
</html>
`;
}
