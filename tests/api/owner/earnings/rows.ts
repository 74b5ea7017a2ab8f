/** Sessions, passes and payments of routers as the database holds them: no job knows of them. */
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { z } from 'zod';
import { earnings } from '../../../../src/lib/server/contract/owner.ts';
import type { Api } from '../../../support/api/api.ts';
import type { Value } from '../../../support/database/sql.ts';
import type { Fixture } from '../../../support/server/fixture.ts';

export type Earnings = z.output<typeof earnings>;

async function insert({ sql }: Fixture, table: string, row: Record<string, Value>): Promise<number> {
	const names = Object.keys(row);
	return sql.count(
		`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) returning id`,
		...Object.values(row)
	);
}

/** Many rows in one transaction. */
export async function together({ sql }: Fixture, work: () => Promise<void>): Promise<void> {
	await sql.run('begin');
	await work();
	await sql.run('commit');
}

/** A session as the database holds it, in whatever state; no job knows of it. */
export async function addSession(
	fixture: Fixture,
	router: number,
	different: Record<string, Value>
): Promise<number> {
	return insert(fixture, 'sessions', {
		account_id: 1,
		router_id: router,
		status: 'expired',
		duration: '1h',
		duration_seconds: 3600,
		payment_method: 'mobile_money',
		phone: '+256772123456',
		amount_minor: 500,
		currency: 'UGX',
		ssid: 'Net',
		payment_due_at: 0,
		created_at: 0,
		updated_at: 0,
		...different
	});
}

let passes = 1_000_000;

/** A running pass without a password. */
export const addPass = (
	fixture: Fixture,
	router: number,
	startsAt: number,
	endsAt: number
): Promise<number> =>
	insert(fixture, 'passes', {
		id: (passes += 1),
		router_id: router,
		access_kind: 'wpa_personal_per_client',
		max_devices: 1,
		starts_at: startsAt,
		ends_at: endsAt,
		created_at: 0,
		updated_at: 0
	});

let references = 0;

export async function addPayment(
	fixture: Fixture,
	router: number,
	different: Record<string, Value>
): Promise<number> {
	references += 1;
	return insert(fixture, 'payments', {
		session_id: await addSession(fixture, router, {}),
		account_id: 1,
		operator: 'sandbox',
		payment_method: 'mobile_money',
		reference: `owner-test-${references}`,
		amount_minor: 500,
		currency: 'UGX',
		phone: '+256772123456',
		status: 'success',
		submit_state: 'accepted',
		applied: 1,
		commission_basis_points: 1000,
		expires_at: 0,
		created_at: 0,
		updated_at: 0,
		...different
	});
}

interface Voucher {
	owner: number;
	status: string;
	amount_minor: number;
	commission_basis_points: number;
	currency: string;
	soldAt: number;
	/** When it was redeemed or voided. */
	changedAt: number;
}

/** A voucher of a batch of its own, and the payment of a redeemed one. */
export async function addVoucher(fixture: Fixture, router: number, voucher: Voucher): Promise<void> {
	const { owner, status, amount_minor, commission_basis_points, currency, soldAt, changedAt } = voucher;
	const batch_id = await insert(fixture, 'voucher_batches', {
		...{
			owner_account_id: owner,
			account_id: owner,
			router_id: router,
			offer_id: 1,
			offer_name: 'Day',
			size: 1
		},
		...{ duration: '1d', duration_seconds: 86_400, max_devices: 1, amount_minor, currency, created_at: 0 },
		commission_basis_points
	});
	await insert(fixture, 'vouchers', {
		...{ batch_id, code_hash: `owner-test-${batch_id}`, status, sold_at: soldAt, created_at: 0 },
		...(status === 'redeemed' && { redeemed_at: changedAt }),
		...(status === 'void' && { void_at: changedAt })
	});
	const method = { operator: 'voucher', payment_method: 'voucher', commission_basis_points: 0 };
	if (status === 'redeemed')
		await addPayment(fixture, router, { ...method, amount_minor, currency, paid_at: changedAt });
}

export async function earningsOf(api: Api, query = ''): Promise<Earnings> {
	const { status, body } = await api.send('GET', `/v1/owner/earnings${query}`);
	expect(status, JSON.stringify(body)).toBe(200);
	return earnings.parse(body);
}

/** Figures of no payments. */
export const EMPTY = {
	...{ sessions: 0, gross: 0, refunds: 0, fees: 0, net: 0 },
	...{ owed: 0, cash: 0, commission: 0 }
};

/** Rows of a CSV file, by the names of its columns. */
export const rowsOf = (csv: string): Record<string, string>[] => parse(csv, { bom: true, columns: true });

export const sum = (rows: readonly Record<string, string>[], name: string) =>
	rows.reduce((total, row) => total + Number(row[name]), 0);

/** "UGX 4,500" as a number, from the line of a receipt that begins with a word. */
export function amountAfter(text: string, label: string): number {
	const [, minus = '', digits = ''] = new RegExp(`${label} (−?)UGX\u00a0?\\s?([\\d,]+)`).exec(text) ?? [];
	expect(digits, `${label} in ${text}`).not.toBe('');
	return Number(`${minus && '-'}${digits.replaceAll(',', '')}`);
}
