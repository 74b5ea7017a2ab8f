import { openSql } from '../../support/database/sql.ts';
import { demoKey, type Portal } from './portal.ts';

export const PRICE_LIST = [
	{ name: '30 min', duration: '30m', price: 200 },
	{ name: '1 hour', duration: '1h', price: 500 },
	{ name: 'Day', duration: '1d', price: 1000, max_devices: 3 },
	{ name: 'Week', duration: '1w', price: 5000 }
];

async function sendAsOwner(
	{ service }: Pick<Portal, 'service'>,
	method: string,
	path: string,
	body: object
): Promise<unknown> {
	const response = await fetch(`${service.url}/v1/owner${path}`, {
		method,
		headers: { authorization: `Bearer ${demoKey(service, 'owner')}`, 'content-type': 'application/json' },
		body: JSON.stringify(body)
	});
	if (!response.ok) throw new Error(`${method} ${path} was refused: ${await response.text()}`);
	return response.json();
}

/** Sets the offers of a demo router as its owner. Returns the id of the first. */
export async function ownerSets(
	portal: Pick<Portal, 'service'>,
	router: number,
	offers: readonly object[],
	more: object = {}
): Promise<number | undefined> {
	const body = { hourly: true, offers, ...more };
	const list = await sendAsOwner(portal, 'PUT', `/routers/${router}/offers`, body);
	return (list as { data: { id: number }[] }).data[0]?.id;
}

/** Makes a voucher for an offer, which is then all that a demo router sells. Returns its code. */
export async function newVoucher(
	portal: Pick<Portal, 'service'>,
	router: number,
	offer: object
): Promise<string> {
	const order = { router_id: router, offer_id: await ownerSets(portal, router, [offer]), count: 1 };
	const batch = await sendAsOwner(portal, 'POST', '/voucher-batches', order);
	return (batch as { codes: { code: string }[] }).codes[0]?.code ?? '';
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
