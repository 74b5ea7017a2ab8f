/** Fills a migrated database with the rows of an installation of a given size. */
import { openSql } from '../../support/database/sql.ts';

/** 100,000 routers in a square of about 200 km give about eight within a kilometre of any point. */
const SQUARE_DEGREES = 0.9;
const DENSE_COUNT = 100_000;
const KEPT_MS = 20 * 24 * 3_600_000;

export interface Place {
	lat: number;
	lon: number;
	/** Half the side of the square. */
	degrees: number;
}

/** The same square at every size, and one that grows with the number of routers. */
export const placesOf = (size: number): { area: Place; density: Place } => ({
	area: { lat: 0.3476, lon: 32.5825, degrees: SQUARE_DEGREES },
	density: { lat: 0.3476, lon: 62.5825, degrees: SQUARE_DEGREES * Math.sqrt(size / DENSE_COUNT) }
});

/** The n-th place of a sequence that covers the square evenly (steps of the plastic number). */
export function placeIn({ lat, lon, degrees }: Place, number: number): { lat: string; lon: string } {
	const within = (middle: number, step: number) =>
		(middle + (((number * step) % 1) * 2 - 1) * degrees).toFixed(6);
	return { lat: within(lat, 0.7548776662), lon: within(lon, 0.5698402909) };
}

const STEPS = { lat: 7_548_777, lon: 5_698_403 };
const inSql = (middle: number, degrees: number, step: number) =>
	`${middle} + (((i * ${step}) % 10000000) / 5000000.0 - 1) * ${degrees}`;

/**
 * `size` routers in each place, and as many gateways, sessions, passes, payments, purchases, events, connections,
 * admissions, device slots and captive sessions, all of the last 20 days and of one account.
 */
export async function fill(databaseUrl: string, size: number): Promise<void> {
	const sql = await openSql(databaseUrl);
	const owner = await sql.count('select id from accounts where role = ?', 'owner');
	const buyer = await sql.count('select id from accounts where role = ?', 'app');
	const router = `${await sql.count('select max(id) from routers')} + i`;
	const now = Date.now();
	const at = `${now - KEPT_MS} + i * ${Math.floor((KEPT_MS - 3_600_000) / size)}`;
	const numbers = `with recursive n (i) as (select cast(1 as bigint) union all select i + 1 from n where i < ${size})`;
	const insert = (table: string, values: Record<string, string | number>) =>
		sql.run(
			`insert into ${table} (${Object.keys(values).join(', ')})
				${numbers} select ${Object.values(values).join(', ')} from n`
		);
	const written = { created_at: at, updated_at: at };
	const money = { amount_minor: 500, currency: `'UGX'` };
	const mac = `'02:00:00:' || i`;

	// Without it SQLite writes the pages of the indexes again and again.
	if (databaseUrl.startsWith('file:')) await sql.run('pragma cache_size = -4000000');
	await sql.run('begin');
	for (const { lat, lon, degrees } of Object.values(placesOf(size))) {
		await insert('routers', {
			...{ owner_account_id: owner, name: `'Place ' || i`, address: `'Street'`, ssid: `'Wi-Fi ' || i` },
			...{ security: `'wpa'`, lat: inSql(lat, degrees, STEPS.lat), lon: inSql(lon, degrees, STEPS.lon) },
			...{ price_minor: 500, currency: `'UGX'`, status: `'online'`, payment_methods: `'["mtn_momo"]'` },
			...{ min_duration: `'1h'`, max_duration: `'30d'`, ...written }
		});
	}
	await insert('gateways', {
		...{
			id: '1000 + i',
			router_id: router,
			kind: `'coova'`,
			name: `'gateway ' || i`,
			key_hash: `'key ' || i`
		},
		...{ key_sealed: `'x'`, login_hosts: `'[]'`, settings: `'{}'`, seen_at: now, ...written }
	});
	await insert('passes', {
		...{ id: '1000 + i', router_id: router, access_kind: `'portal_login'`, max_devices: 1 },
		...{ starts_at: at, ends_at: `${at} + 1000`, ...written }
	});
	await insert('sessions', {
		...{ id: '1000 + i', account_id: buyer, router_id: router, status: `'expired'`, duration: `'1h'` },
		...{ duration_seconds: 3600, payment_method: `'mobile_money'`, phone: `'+25677' || i`, ...money },
		...{ ssid: `'Wi-Fi'`, payment_id: '1000 + i', pass_id: '1000 + i', payment_due_at: at },
		...{ starts_at: at, expires_at: `${at} + 1000`, ended_at: `${at} + 1000`, ...written }
	});
	await insert('payments', {
		...{ id: '1000 + i', session_id: '1000 + i', account_id: buyer, operator: `'sandbox'` },
		...{ payment_method: `'mobile_money'`, reference: `'reference ' || i`, ...money, phone: `'+25677' || i` },
		...{ status: `'success'`, submit_state: `'accepted'`, applied: 1, commission_basis_points: 0 },
		...{ expires_at: at, paid_at: at, ...written }
	});
	await insert('operator_messages', {
		...{ payment_id: '1000 + i', kind: `'status'`, outcome: `'succeeded'`, received_at: at }
	});
	await insert('purchases', {
		...{ id: '1000 + i', token_hash: `'token ' || i`, code_hash: `'code ' || i`, router_id: router },
		...{ duration: `'1h'`, payment_method: `'mobile_money'`, phone: `'+25677' || i`, ...money },
		...{ session_id: '1000 + i', ...written }
	});
	await insert('events', {
		...{ id: `'evt_' || i`, type: `'session.expired'`, account_id: buyer, router_id: router },
		...{ session_id: '1000 + i', payment_id: '1000 + i', data: `'{"id":1}'`, created_at: at }
	});
	await insert('connections', {
		...{ gateway_id: '1000 + i', acct_session_id: `'s' || i`, pass_id: '1000 + i', mac },
		...{ started_at: at, seen_at: at, stopped_at: at }
	});
	const device = { pass_id: '1000 + i', gateway_id: '1000 + i', mac };
	await insert('admissions', { ...device, created_at: at, released_at: at });
	await insert('device_slots', { ...device, bound_at: at, reported_at: at, released_at: at });
	await insert('captive_sessions', {
		...{ id_hash: `'visit ' || i`, gateway_id: '1000 + i', client_mac: mac, entry_sealed: `'x'` },
		...{ created_at: at, expires_at: now + KEPT_MS }
	});
	// A fill can take longer than a silent gateway counts as responding.
	await sql.run('update gateways set seen_at = ? where seen_at is not null', Date.now());
	await sql.run('commit');
	if (databaseUrl.startsWith('postgres')) await restartIds(databaseUrl, size);
	await sql.run('analyze');
	await sql.close();
}

/** The next ids of PostgreSQL do not follow from inserted ones. */
async function restartIds(databaseUrl: string, size: number): Promise<void> {
	const sql = await openSql(databaseUrl);
	for (const table of ['gateways', 'sessions', 'payments', 'purchases']) {
		await sql.run(`alter table ${table} alter column id restart with ${1_001 + size}`);
	}
	await sql.close();
}
