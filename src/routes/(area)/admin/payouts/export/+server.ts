import { toMajor } from '#lib/domain/money.ts';
import { findToday } from '#lib/server/billing/earnings.ts';
import { listPayouts } from '#lib/server/billing/payouts.ts';
import { adminPage } from '#lib/server/web/admin.ts';
import { CSV_BATCH, csvResponse } from '#lib/server/web/csv.ts';

const COLUMNS = ['Reference', 'Owner', 'Method', 'Account', 'Amount', 'Currency', 'Status', 'Transaction ID'];

/** GET /admin/payouts/export: the open payouts that a person sends, as CSV for the operator's portal. Import it when it is filled in. */
export const GET = adminPage(({ locals: { app } }) =>
	csvResponse(
		`airtill-payouts-${findToday(app)}.csv`,
		COLUMNS,
		async (before: number | null) => {
			const rows = await listPayouts(app, { isUnfinished: true }, { before, limit: CSV_BATCH });
			return { rows, next: rows.length < CSV_BATCH ? null : (rows.at(-1)?.id ?? null) };
		},
		({ rows }) =>
			rows
				.filter(({ operator, status }) => operator === null && status === 'open')
				.map(({ reference, email, method, address, amount_minor, currency }) => [
					// Portals write numbers without the plus sign, which a spreadsheet would run as a formula.
					...[reference, email, method, address.replace(/^\+/, '')],
					...[toMajor(amount_minor, currency), currency, '', '']
				])
	)
);
