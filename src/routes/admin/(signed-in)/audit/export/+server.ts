import { error, type RequestEvent } from '@sveltejs/kit';
import { dateAt, timeAt } from '#lib/format/calendar.ts';
import type { AuditFilter, AuditPosition } from '#lib/server/audit/audit.ts';
import { adminPage, namesOf } from '#lib/server/web/admin/admin.ts';
import { auditSearchOf } from '#lib/server/web/admin/audit.ts';
import { csvResponse, type CsvCell } from '#lib/server/web/csv.ts';

const BATCH = 500;

const columnsOf = (timeZone: string) => [
	...[`Time (${timeZone})`, 'Time (UTC)', 'Entry', 'Actor', 'Email or name', 'Action'],
	...['Payment', 'Refund', 'Reason', 'Before', 'After']
];

async function* rowsOf(event: RequestEvent, filter: AuditFilter): AsyncGenerator<CsvCell[]> {
	const { audit, config, database } = event.locals.app;
	let after: AuditPosition | null = null;
	do {
		const found: Awaited<ReturnType<typeof audit.search>> = await audit.search(database.db, filter, {
			after,
			limit: BATCH
		});
		const actors = found.entries.map(({ actor }) => actor);
		const nameOf = await namesOf(event, actors);
		for (const { id, at, actor, action, payment_id, refund_id, reason, ...change } of found.entries) {
			yield [
				...[timeAt(at, config.reportTimezone), new Date(at).toISOString()],
				...[id, actor, nameOf(actor), action, payment_id ?? '', refund_id ?? ''],
				...[reason, change.before, change.after]
			];
		}
		after = found.next;
	} while (after !== null);
}

/** GET /admin/audit/export?actor=&action=&payment=&router=&from=&to=: the entries of a search as CSV. */
export const GET = adminPage(async (event) => {
	const { config, clock } = event.locals.app;
	const { filter, problems } = await auditSearchOf(event);
	if (!filter) error(400, problems.map(([, problem]) => problem).join(' '));
	const today = dateAt(clock.now(), config.reportTimezone);
	return csvResponse(`airtill-audit-${today}.csv`, columnsOf(config.reportTimezone), rowsOf(event, filter));
});
