/** The books: every value that moves is an entry, posted with the change, never changed, and equal to its source row. */
import { DIALECTS } from '#lib/server/db/migrate.ts';
import { books } from '#lib/server/db/migrations/0006-books.ts';
import { payouts } from '#lib/server/db/migrations/0009-payouts.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { addRouter, newOwner, type Owner } from '../../support/pages/owners.ts';
import { withoutBooks } from '../../support/database/without-books.ts';
import { makeVouchers, redeem } from '../../support/pages/vouchers.ts';
import { cli } from '../../support/server/cli.ts';
import { BOTH_DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';
import { earningsOf } from '../owner/earnings/rows.ts';

const VOUCHER_ROUTER = 5;

describe.each(BOTH_DATABASES)('the books on %s', (database) => {
	const fixture = useFixture({ database, env: { COMMISSION_BASIS_POINTS: '1000' } });
	let owner: Owner;
	let router: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
	});

	const check = async (...options: string[]) => {
		const { server } = fixture();
		const env = { ...server.env, DATABASE_URL: server.databaseUrl };
		const { code, stdout, stderr } = await cli(['books', 'check', ...options], { env });
		expect(stderr).toBe('');
		const lines = stdout.trim().replaceAll('\u00a0', ' ').split('\n');
		const summary = JSON.parse(lines.at(-1) ?? '') as { entries: number; posted: number };
		return { ...summary, code, problems: lines.slice(0, -1) };
	};
	const entriesOf = async (kinds: string, source: number) => {
		const select = 'select * from book_entries where source_id = ? and kind like ? order by id';
		const rows = await fixture().sql.all(select, source, kinds);
		return rows.map(
			({ kind, debit, credit, amount_minor: amount, ...row }) =>
				`${kind}: ${amount} ${credit} > ${debit}, ${row['fee_minor']} ${row['fee_credit']} > ${row['fee_debit']}`
		);
	};
	const refund = async (session: number, payment: number) => {
		await owner.post(`/owner/customers/${session}?/refund`, { note: 'No Wi-Fi' });
		await eventually('the refund arrives', async () => {
			await fixture().server.advance(1_000);
			return (await fixture().api.getPayment(payment)).status === 'refunded';
		});
	};

	it('a sale and its refund move the price and the fee there and back', async () => {
		const { session, payment } = await fixture().buy({ router_id: router });
		expect(await entriesOf('payment%', payment.id)).toEqual([
			'payment: 500 owner > operator:sandbox, 50 platform > owner'
		]);
		await refund(session.id, payment.id);
		expect(await entriesOf('refund%', payment.id)).toEqual([
			'refund: 500 operator:sandbox > owner, 50 owner > platform'
		]);
		expect(await check()).toMatchObject({ code: 0, problems: [] });
	});

	it('cash of vouchers is in the till when they are sold, and earned when they are redeemed', async () => {
		const { owner: seller, api, sql, server } = fixture();
		const before = await earningsOf(seller);
		const { codes } = await makeVouchers(seller, VOUCHER_ROUTER, 3, {
			...{ seller: 'Corner shop', commission_percent: 10 }
		});
		const [first, second, third] = codes;
		if (!first || !second || !third) throw new Error('The batch is too small');
		expect((await redeem(api, first.code)).status).toBe(201);
		const sell = "update vouchers set status = 'sold', sold_at = ? where id in (?, ?)";
		await sql.run(sell, server.now(), second.id, third.id);
		await sql.run(
			"update vouchers set status = 'void', void_at = ? where id = ?",
			server.now() + 1,
			third.id
		);
		expect(await entriesOf('voucher%', third.id)).toEqual([
			'voucher: 1000 vouchers > till, 100 sellers > commission',
			'voucher_void: 1000 till > vouchers, 100 commission > sellers'
		]);
		const { total } = await earningsOf(seller);
		expect(total).toMatchObject({
			gross: before.total.gross + 1000,
			owed: before.total.owed,
			cash: before.total.cash + 2000,
			commission: before.total.commission + 200
		});
		expect(await check()).toMatchObject({ code: 0, problems: [] });
	});

	it('an entry is neither changed nor deleted, and a second one of the same source is refused', async () => {
		await fixture().buy({ router_id: router });
		const columns = `kind, source_id, at, debit, credit, amount_minor, fee_minor, currency, owner_account_id, payment_method`;
		for (const statement of [
			'update book_entries set amount_minor = amount_minor + 1',
			'delete from book_entries',
			`insert into book_entries (${columns}) select ${columns} from book_entries`,
			`insert into book_entries (${columns})
				values ('payment', 999999, 0, 'owner', 'platform', 0, 0, 'UGX', 1, 'mtn_momo')`,
			`insert into book_entries (${columns})
				values ('payment', 999999, 0, 'owner', 'owner', 5, 0, 'UGX', 1, 'mtn_momo')`
		]) {
			await expect(fixture().sql.run(statement), statement).rejects.toThrow();
		}
		expect(await check()).toMatchObject({ code: 0, problems: [] });
	});

	it('names a source row that somebody changed by hand, and the totals that are then wrong', async () => {
		const { payment } = await fixture().buy({ router_id: router });
		const change = 'update payments set amount_minor = ? where id = ?';
		await fixture().sql.run(change, 700, payment.id);
		const { code, problems } = await check('--post');
		expect(code).toBe(1);
		expect(problems).toEqual([
			`Payment ${payment.id}: the entry "payment" differs: amount_minor is 500 in the books and 700 by its row; ` +
				'fee_minor is 50 in the books and 70 by its row.',
			`Account "operator:sandbox" of owner ${owner.accountId}: the books debit UGX 200 less than the rows.`,
			`Account "owner" of owner ${owner.accountId}: the books debit UGX 180 more than the rows.`,
			`Account "platform" of owner ${owner.accountId}: the books debit UGX 20 more than the rows.`
		]);
		await fixture().sql.run(change, 500, payment.id);
		await fixture().sql.run('update payments set applied = 0, paid_at = null where id = ?', payment.id);
		expect((await check()).problems).toContain(
			`Payment ${payment.id}: the entry "payment" of UGX 500 does not follow from its row.`
		);
		await fixture().sql.run(
			'update payments set applied = 1, paid_at = ? where id = ?',
			Date.parse(payment.paid_at ?? ''),
			payment.id
		);
		expect(await check()).toMatchObject({ code: 0, problems: [] });
	});

	it('after an upgrade from a version without books, they equal what the pages showed', async () => {
		const { sql, owner: seller } = fixture();
		const { api: ofOwner } = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
		const { session, payment } = await fixture().buy({ router_id: router });
		await refund(session.id, payment.id);
		const read = async () => [
			await earningsOf(ofOwner),
			await earningsOf(seller),
			await sql.all(
				'select kind, source_id, debit, credit, amount_minor, fee_minor, at from book_entries order by 2, 1'
			)
		];
		const before = await read();
		const again = [books, payouts].flatMap(({ statements }) => statements(DIALECTS[database]));
		for (const statement of [...withoutBooks(database), ...again]) await sql.run(statement);
		expect(await read()).toEqual(before);
		expect(await check()).toMatchObject({ code: 0, problems: [] });
	});

	it('entries that nothing posted are missing, until --post posts them', async () => {
		const { sql } = fixture();
		const { session, payment } = await fixture().buy({ router_id: router });
		const off = {
			sqlite: 'drop trigger payments_post_change',
			postgres: 'drop trigger payments_post_change on payments'
		};
		await sql.run(off[database]);
		await refund(session.id, payment.id);
		const { code, problems } = await check();
		expect([code, problems[0]]).toEqual([
			1,
			`Payment ${payment.id}: the entry "refund" of UGX 500 is missing.`
		]);
		expect(await check('--post')).toMatchObject({ code: 0, problems: [], posted: 1 });
		expect(await check('--post')).toMatchObject({ code: 0, posted: 0 });
	});
});
