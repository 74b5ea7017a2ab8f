/** Test data for benchmarks: routers at random locations and settled payments. */
import { sequence } from '../../support/random.ts';
import { openSql } from '../../support/database/sql.ts';
import { createBuyer } from './buyers.ts';

const CENTRE = { lat: 0.3476, lon: 32.5825 };
/** A square of about 200 km: 100,000 routers give about eight within a kilometre of any point. */
const SPREAD_DEGREES = 0.9;
const ROWS_AT_ONCE = 500;

function createPlaces(seed: number): () => { lat: string; lon: string } {
	const random = sequence(seed);
	const near = (middle: number) => (middle + (random() * 2 - 1) * SPREAD_DEGREES).toFixed(6);
	return () => ({ lat: near(CENTRE.lat), lon: near(CENTRE.lon) });
}

/** Adds routers at random locations to a migrated database. */
export async function addRouters(databaseUrl: string, count: number): Promise<void> {
	const sql = await openSql(databaseUrl);
	const owner = await sql.count('select id from accounts where role = ?', 'owner');
	const place = createPlaces(1);
	await sql.run('begin');
	for (let done = 0; done < count; done += ROWS_AT_ONCE) {
		const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - done) }, (_, index) => {
			const { lat, lon } = place();
			const number = done + index;
			return `(${owner}, 'Place ${number}', 'Street ${number % 97}', 'Place ${number}', 'wpa', ${lat}, ${lon}, 1000,
				'UGX', 'online', '["mtn_momo","airtel_money"]', '1h', '30d', 1700000000000, 1700000000000)`;
		});
		await sql.run(
			`insert into routers (owner_account_id, name, address, ssid, security, lat, lon, price_minor, currency, status,
				payment_methods, min_duration, max_duration, created_at, updated_at) values ${rows.join(', ')}`
		);
	}
	await sql.run('commit');
	await sql.run('analyze');
	await sql.close();
}

/** Router searches at random locations, with the default of 1 km and 20 per page. */
export function searches(count: number): string[] {
	const place = createPlaces(2);
	return Array.from({ length: count }, () => {
		const { lat, lon } = place();
		return `/v1/routers?lat=${lat}&lon=${lon}`;
	});
}

/** Buys sessions, waits until they are paid and returns the paths of their payment statuses. */
export async function makePayments(url: string, key: string, count: number): Promise<string[]> {
	const { buy } = createBuyer(url, key);
	const paths: string[] = [];
	while (paths.length < count) paths.push(`/v1/payments/${(await buy()).paymentId}/status`);
	return paths;
}
