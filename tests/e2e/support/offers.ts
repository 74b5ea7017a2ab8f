import { openSql } from '../../support/database/sql.ts';
import { demoKey, type Portal } from './portal.ts';

export const PRICE_LIST = [
	{ name: '30 min', duration: '30m', price: 200 },
	{ name: '1 hour', duration: '1h', price: 500 },
	{ name: 'Day', duration: '1d', price: 1000, max_devices: 3 },
	{ name: 'Week', duration: '1w', price: 5000 }
];

/** Sets the offers of a demo router as its owner. */
export async function ownerSets(
	{ service }: Pick<Portal, 'service'>,
	router: number,
	offers: readonly object[],
	more: object = {}
): Promise<void> {
	const response = await fetch(`${service.url}/v1/owner/routers/${router}/offers`, {
		method: 'PUT',
		headers: { authorization: `Bearer ${demoKey(service, 'owner')}`, 'content-type': 'application/json' },
		body: JSON.stringify({ hourly: true, offers, ...more })
	});
	if (!response.ok) throw new Error(`The offers were refused: ${await response.text()}`);
}

/** Reads the terms of the last session that was ordered at a router. */
export async function lastTerms({ service }: Pick<Portal, 'service'>, router: number) {
	const sql = await openSql(service.databaseUrl);
	try {
		const columns = 'duration, amount_minor, offer_name, max_devices';
		const order = `where router_id = ${router} order by id desc limit 1`;
		return (await sql.all(`select ${columns} from sessions ${order}`))[0];
	} finally {
		await sql.close();
	}
}
