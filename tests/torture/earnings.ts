/** Compares the owner's page with the money that the operator took and kept for granted time. */
import { toMajor } from '../../src/lib/domain/money.ts';
import type { Sql } from '../support/database/sql.ts';
import type { Client } from './client.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/**
 * @param owner of all routers that were bought on
 * @param span server times between which everything happened
 * @returns what differs
 */
export async function judgeEarnings(
	owner: Client,
	sql: Sql,
	span: { from: number; until: number }
): Promise<string[]> {
	const query = `period=monthly&from=${dayOf(span.from - DAY_MS)}&to=${dayOf(span.until + DAY_MS)}`;
	const { status, body } = await owner.send('GET', `/v1/owner/earnings?${query}`);
	if (status !== 200) return [`earnings: HTTP ${status} ${JSON.stringify(body)}`];
	const total = Object(body['total']) as Record<string, unknown>;
	const granted = await sql.all(
		'select amount_minor, currency, commission_basis_points from payments where applied = 1'
	);
	const inMajor = (minor: number) => toMajor(minor, String(granted[0]?.['currency'] ?? body['currency']));
	const gross = granted.reduce((sum, row) => sum + Number(row['amount_minor']), 0);
	const fees = granted.reduce(
		(sum, row) =>
			sum + Math.round((Number(row['amount_minor']) * Number(row['commission_basis_points'])) / 10_000),
		0
	);
	const expected = {
		sessions: granted.length,
		gross: inMajor(gross),
		refunds: 0,
		fees: inMajor(fees),
		net: inMajor(gross - fees),
		owed: inMajor(gross - fees)
	};
	return Object.entries(expected)
		.filter(([name, amount]) => total[name] !== amount)
		.map(([name, amount]) => `earnings: ${name} is ${String(total[name])}, the ledger has ${amount}`);
}
