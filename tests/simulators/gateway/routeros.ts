import { startApi, type ApiServer, type Asked, type Said } from './faults.ts';

/**
 * The REST API of RouterOS 7 with its hotspot, as help.mikrotik.com describes it: menus of rows with ids like `*1F`, all
 * values texts, PUT adds, PATCH changes, DELETE removes. Its users sign in with `signIn`, as the hotspot's page has them
 * do, and are counted by their uptime on its own clock.
 */
export interface RouterOs extends ApiServer {
	/** Answers a request as its API does, without a network. */
	answer(asked: Asked): Said;
	/** Signs in; the words of the hotspot if it refuses. */
	signIn(user: string, password: string, mac: string): 'online' | string;
	isOnline(user: string): boolean;
	/** Devices of a user that are online. */
	devices(user: string): string[];
	/** Values of a user's row; null when there is none. */
	user(name: string): Readonly<Record<string, string>> | null;
	/** A user's devices send and receive that many bytes; at the limit they are offline. */
	use(name: string, bytes: number): void;
	/** `rate-limit` of a user's profile; null without one. */
	rateOf(name: string): string | null;
	/** Somebody changes the rate limit of a profile on the router itself. */
	setRate(profile: string, rate: string): void;
	/** Somebody adds a user, or changes one, on the router itself. */
	byHand(name: string, values: Readonly<Record<string, string>>): void;
	/** A device is on its network, or no more. */
	join(mac: string, address: string): void;
	leave(mac: string): void;
	/** It drops this property of what it is told; null for none. */
	ignore(property: string | null): void;
	/** Set back to what it was at first: no users, no profiles but its own, nobody online. */
	reset(): void;
	/** Its clock goes on: connections use up their time. */
	pass(ms: number): void;
}

type Row = Record<string, string>;

const MENUS = [
	'ip/hotspot/user',
	'ip/hotspot/user/profile',
	'ip/hotspot/active',
	'ip/hotspot/cookie',
	'ip/hotspot/host'
] as const;

const FIRST_PROFILE: Row = { '.id': '*0', name: 'default', 'shared-users': '1' };

const NEW_USER: Row = { uptime: '0s', 'bytes-in': '0', 'bytes-out': '0' };

const seconds = (text = '0s') => {
	const [, d, h, m, s] = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
	return ((Number(d ?? 0) * 24 + Number(h ?? 0)) * 60 + Number(m ?? 0)) * 60 + Number(s ?? 0);
};

/** As RouterOS writes it: `1h5m3s`. */
function written(total: number): string {
	const parts: [number, string][] = [
		[Math.floor(total / 86_400), 'd'],
		[Math.floor(total / 3_600) % 24, 'h'],
		[Math.floor(total / 60) % 60, 'm'],
		[total % 60, 's']
	];
	return parts.flatMap(([value, unit]) => (value > 0 ? `${value}${unit}` : [])).join('') || '0s';
}

const wrong = (status: number, message: string, detail?: string): Said => ({
	status,
	body: { error: status, message, ...(detail !== undefined && { detail }) }
});

export async function startRouterOs(account: { user: string; password: string }): Promise<RouterOs> {
	const tables = Object.fromEntries(MENUS.map((menu) => [menu, [] as Row[]])) as Record<
		(typeof MENUS)[number],
		Row[]
	>;
	tables['ip/hotspot/user/profile'].push({ ...FIRST_PROFILE });
	let next = 0;
	let ignored: string | null = null;
	const id = () => `*${(next += 1).toString(16).toUpperCase()}`;
	const users = tables['ip/hotspot/user'];
	const active = tables['ip/hotspot/active'];
	const expected = `Basic ${Buffer.from(`${account.user}:${account.password}`).toString('base64')}`;

	function answer({ method, path, query, headers, body }: Asked): Said {
		if (headers.authorization !== expected) return wrong(401, 'Unauthorized');
		if (method === 'GET' && path === '/rest/system/clock') return { status: 200, body: clock() };
		const menu = MENUS.find((known) => path === `/rest/${known}`);
		const owner = MENUS.find((known) => path.startsWith(`/rest/${known}/*`));
		if (menu && method === 'GET') {
			const wanted = [...query].filter(([name]) => !name.startsWith('.'));
			const rows = tables[menu].filter((row) => wanted.every(([name, value]) => row[name] === value));
			return { status: 200, body: rows };
		}
		const given = Object.entries(body).filter(([name]) => name !== ignored);
		const values = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
		if (menu && method === 'PUT') return add(menu, values);
		if (!owner) return wrong(400, 'Bad Request', 'no such command or directory');
		const row = tables[owner].find((one) => path === `/rest/${owner}/${one['.id']}`);
		if (!row) return wrong(404, 'Not Found');
		if (method === 'DELETE') {
			tables[owner].splice(tables[owner].indexOf(row), 1);
			return { status: 204 };
		}
		if (method !== 'PATCH') return wrong(405, 'Method Not Allowed');
		if (!hasProfile(values['profile']))
			return wrong(400, 'Bad Request', 'input does not match any value of profile');
		Object.assign(row, values);
		return { status: 200, body: row };
	}

	const profileOf = (name: string | undefined) =>
		tables['ip/hotspot/user/profile'].find((one) => one['name'] === name);
	const hasProfile = (name: string | undefined) => name === undefined || profileOf(name) !== undefined;

	function add(menu: (typeof MENUS)[number], values: Row): Said {
		if (tables[menu].some((row) => row['name'] !== undefined && row['name'] === values['name'])) {
			return wrong(400, 'Bad Request', 'failure: already have user with this name for this server');
		}
		if (!hasProfile(values['profile']))
			return wrong(400, 'Bad Request', 'input does not match any value of profile');
		const row: Row = { '.id': id(), ...(menu === 'ip/hotspot/user' && NEW_USER), ...values };
		tables[menu].push(row);
		return { status: 201, body: row };
	}

	function clock(): Row {
		const local = new Date(Date.now() + api.clockOffsetMs + 3 * 3_600_000).toISOString();
		return { date: local.slice(0, 10), time: local.slice(11, 19), 'gmt-offset': '+03:00' };
	}

	const left = (row: Row) =>
		row['limit-uptime'] === undefined ? Infinity : seconds(row['limit-uptime']) - seconds(row['uptime']);

	/** No limit is 0. */
	const isUsedUp = (row: Row) =>
		Number(row['limit-bytes-total'] ?? 0) > 0 &&
		Number(row['bytes-in']) + Number(row['bytes-out']) >= Number(row['limit-bytes-total']);

	const api = await startApi(answer, {
		unauthorised: () => wrong(401, 'Unauthorized'),
		error: () => wrong(500, 'Internal Server Error', 'not enough permissions (9)')
	});

	return Object.assign<ApiServer, Omit<RouterOs, keyof ApiServer>>(api, {
		answer,
		signIn(name, password, mac) {
			const user = users.find((row) => row['name'] === name);
			if (!user || user['password'] !== password || user['disabled'] === 'true') {
				return 'invalid username or password';
			}
			if (left(user) <= 0) return 'your uptime limit is reached';
			if (isUsedUp(user)) return 'your traffic limit is reached';
			const own = active.filter((row) => row['user'] === name);
			if (own.some((row) => row['mac-address'] === mac)) return 'online';
			if (own.length >= Number(profileOf(user['profile'])?.['shared-users'] ?? 1)) {
				return `no more sessions are allowed for user ${name}`;
			}
			active.push({ '.id': id(), user: name, 'mac-address': mac, uptime: '0s' });
			tables['ip/hotspot/cookie'].push({ '.id': id(), user: name, 'mac-address': mac });
			return 'online';
		},
		isOnline: (name) => active.some((row) => row['user'] === name),
		devices: (name) => active.flatMap((row) => (row['user'] === name ? (row['mac-address'] ?? '') : [])),
		user: (name) => users.find((row) => row['name'] === name) ?? null,
		use(name, bytes) {
			const user = users.find((row) => row['name'] === name);
			if (!user) throw new Error(`The hotspot has no user ${name}`);
			user['bytes-in'] = String(Number(user['bytes-in']) + Math.floor(bytes / 4));
			user['bytes-out'] = String(Number(user['bytes-out']) + Math.ceil((bytes * 3) / 4));
			if (!isUsedUp(user)) return;
			for (const row of active.filter((one) => one['user'] === name)) active.splice(active.indexOf(row), 1);
		},
		rateOf: (name) =>
			profileOf(users.find((row) => row['name'] === name)?.['profile'])?.['rate-limit'] ?? null,
		setRate(name, rate) {
			Object.assign(profileOf(name) ?? {}, { 'rate-limit': rate });
		},
		byHand(name, values) {
			const user = users.find((row) => row['name'] === name);
			if (user) Object.assign(user, values);
			else users.push({ '.id': id(), ...NEW_USER, name, profile: 'default', ...values });
		},
		join(mac, address) {
			tables['ip/hotspot/host'].push({ '.id': id(), 'mac-address': mac.toUpperCase(), address });
		},
		leave(mac) {
			const hosts = tables['ip/hotspot/host'];
			tables['ip/hotspot/host'] = hosts.filter((row) => row['mac-address'] !== mac.toUpperCase());
		},
		ignore(property) {
			ignored = property;
		},
		reset() {
			for (const menu of MENUS) tables[menu].splice(0, tables[menu].length);
			tables['ip/hotspot/user/profile'].push({ ...FIRST_PROFILE });
		},
		pass(ms) {
			for (const row of [...active]) {
				const user = users.find((one) => one['name'] === row['user']);
				row['uptime'] = written(seconds(row['uptime']) + Math.round(ms / 1000));
				if (!user) continue;
				user['uptime'] = written(seconds(user['uptime']) + Math.round(ms / 1000));
				if (left(user) <= 0) active.splice(active.indexOf(row), 1);
			}
		}
	});
}
