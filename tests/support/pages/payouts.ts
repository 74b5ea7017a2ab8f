/** Payouts by the pages of administrators and owners. */
import type { Sql } from '../database/sql.ts';
import type { TestServer } from '../server/server.ts';
import { administratorOf } from './administrator.ts';
import { type Browsing, type Page, fieldValue } from './browsing.ts';

/** A destination that an owner entered long ago. */
export const setDestination = (sql: Sql, owner: number, address: string, method = 'mtn_momo') =>
	sql.run(
		`insert into payout_destinations (owner_account_id, method, address, account_id, usable_at, created_at)
			values (?, ?, ?, ?, 0, 0)`,
		...[owner, method, address, owner]
	);

/** Previews a run and makes it. @returns the page before and the one after */
export async function payOut(
	server: TestServer,
	{ until = '', minimum = '', by = 'operator' } = {},
	admin?: Browsing
): Promise<{ preview: Page; page: Page }> {
	const person = admin ?? (await administratorOf(server));
	const order = { until, minimum, by };
	const preview = await person.get(`/admin/payouts?${new URLSearchParams({ preview: '1', ...order })}`);
	if (!preview.html.includes('name="run"')) return { preview, page: preview };
	const run = fieldValue(preview, 'run');
	return { preview, page: await person.post('/admin/payouts?/create', { ...order, run, note: 'weekly' }) };
}

export const payoutsOf = (sql: Sql, owner: number) =>
	sql.all('select * from payouts where owner_account_id = ? order by id', owner);
