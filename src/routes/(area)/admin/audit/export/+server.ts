import { error, type RequestEvent } from '@sveltejs/kit';
import { dateAt, timeAt } from '#lib/domain/time.ts';
import type { AuditPosition, FoundEntry } from '#lib/server/audit.ts';
import { adminPage, findNames, readAuditSearch } from '#lib/server/web/admin.ts';
import { CSV_BATCH, csvResponse } from '#lib/server/web/csv.ts';

const columnsOf = (timeZone: string) => [
	...[`Time (${timeZone})`, 'Time (UTC)', 'Entry', 'Actor', 'Email or name', 'Action'],
	...['Payment', 'Refund', 'Reason', 'Before', 'After']
];

async function rowsOf(event: RequestEvent, { entries }: { entries: readonly FoundEntry[] }) {
	const { config } = event.locals.app;
	const actors = entries.map(({ actor }) => actor);
	const nameOf = await findNames(event, actors);
	return entries.map(({ id, at, actor, action, payment_id, refund_id, reason, ...change }) => [
		...[timeAt(at, config.reportTimezone), new Date(at).toISOString()],
		...[id, actor, nameOf(actor), action, payment_id ?? '', refund_id ?? ''],
		...[reason, change.before, change.after]
	]);
}

/** GET /admin/audit/export?who=&actor=&action=&payment=&router=&from=&to=: the entries of a search as CSV. */
export const GET = adminPage(async (event) => {
	const { audit, clock, config, database } = event.locals.app;
	const { filter, problems } = await readAuditSearch(event);
	if (!filter) error(400, problems.map(([, problem]) => problem).join(' '));
	const today = dateAt(clock.now(), config.reportTimezone);
	return csvResponse(
		`airtill-audit-${today}.csv`,
		columnsOf(config.reportTimezone),
		(after: AuditPosition | null) => audit.search(database.db, filter, { after, limit: CSV_BATCH }),
		(page) => rowsOf(event, page)
	);
});
