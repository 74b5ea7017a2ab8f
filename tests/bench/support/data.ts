/** Test data for benchmarks: routers at random locations and settled payments. */
import { sequence } from '../../support/random.ts';
import { openSql, type Sql } from '../../support/database/sql.ts';
import { createBuyer } from './buyers.ts';

const CENTRE = { lat: 0.3476, lon: 32.5825 };
/** A square of about 200 km: 100,000 routers give about eight within a kilometre of any point. */
const SPREAD_DEGREES = 0.9;
const ROWS_AT_ONCE = 500;

function createPlaces(
	seed: number,
	centre = CENTRE,
	spread = SPREAD_DEGREES
): () => { lat: string; lon: string } {
	const random = sequence(seed);
	const near = (middle: number) => (middle + (random() * 2 - 1) * spread).toFixed(6);
	return () => ({ lat: near(centre.lat), lon: near(centre.lon) });
}

/** Routers within 20 km of a point, by its latitude on the meridian of the crowds. */
const CROWDS: readonly (readonly [lat: number, count: number])[] = [
	[20, 3],
	[22, 3_300],
	[24, 100_000]
];
const CROWD_LON = 20;
const CROWD_DEGREES = 0.12;

/** The same routers again, each with five offers. */
export const EAST = { ...CENTRE, lon: CENTRE.lon + 10 };
/** Every tenth router has the same prices. */
const fiveOffers = (number: number): string => {
	const durations = ['30m', '1h', '1d', '1w', '30d'];
	const offers = durations.map((duration, index) => ({
		...{
			id: index + 1,
			name: `Package ${duration}`,
			duration,
			price_minor: (index + 1) * 500 + (number % 10)
		},
		...{ max_devices: 3, active: true }
	}));
	return JSON.stringify(offers);
};

/** Adds routers to a migrated database: at random locations, the same with offers, and in crowds elsewhere. */
export async function addRouters(databaseUrl: string, count: number): Promise<void> {
	const sql = await openSql(databaseUrl);
	const owner = await sql.count('select id from accounts where role = ?', 'owner');
	await sql.run('begin');
	await insertRouters(sql, owner, count, createPlaces(1));
	await insertRouters(sql, owner, count, createPlaces(1, EAST), fiveOffers);
	for (const [lat, size] of CROWDS) {
		await insertRouters(sql, owner, size, createPlaces(lat, { lat, lon: CROWD_LON }, CROWD_DEGREES));
	}
	await sql.run('commit');
	await sql.run('analyze');
	await sql.close();
}

/** Searches within 20 km of the centre of a crowd, with the crowd's size. */
export const crowdSearches = CROWDS.map(([lat, size]) => {
	const place = createPlaces(3, { lat, lon: CROWD_LON }, 0.02);
	const paths = Array.from({ length: 500 }, () => {
		const near = place();
		return `/v1/routers?lat=${near.lat}&lon=${near.lon}&radius=20000`;
	});
	return { size, paths };
});

async function insertRouters(
	sql: Sql,
	owner: number,
	count: number,
	place: ReturnType<typeof createPlaces>,
	offersOf = (_number: number) => '[]'
) {
	for (let done = 0; done < count; done += ROWS_AT_ONCE) {
		const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - done) }, (_, index) => {
			const { lat, lon } = place();
			const number = done + index;
			return `(${owner}, 'Place ${number}', 'Street ${number % 97}', 'Place ${number}', 'wpa', ${lat}, ${lon}, 1000,
				'UGX', 'online', '["mtn_momo","airtel_money"]', '1h', '30d', '${offersOf(number)}', 1700000000000, 1700000000000)`;
		});
		await sql.run(
			`insert into routers (owner_account_id, name, address, ssid, security, lat, lon, price_minor, currency, status,
				payment_methods, min_duration, max_duration, offers, created_at, updated_at) values ${rows.join(', ')}`
		);
	}
}

/** Router searches at random locations. `more` is added to the query; the default is 1 km and 20 per page. */
export function searches(count: number, { more = '', centre = CENTRE } = {}): string[] {
	const place = createPlaces(2, centre);
	return Array.from({ length: count }, () => {
		const { lat, lon } = place();
		return `/v1/routers?lat=${lat}&lon=${lon}${more}`;
	});
}

/** Buys sessions, waits until they are paid and returns the paths of their payment statuses. */
export async function makePayments(url: string, key: string, count: number): Promise<string[]> {
	const { buy } = createBuyer(url, key);
	const paths: string[] = [];
	while (paths.length < count) paths.push(`/v1/payments/${(await buy()).paymentId}/status`);
	return paths;
}
