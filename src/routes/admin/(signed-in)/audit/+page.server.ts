import { adminPage } from '#lib/server/web/admin/admin.ts';
import { auditLines, auditPositionOf, auditSearchOf } from '#lib/server/web/admin/audit.ts';
import { pageLinks } from '#lib/server/web/page-links.ts';

const PAGE_SIZE = 50;

/** /admin/audit?actor=&action=&payment=&router=&from=&to=&at=: newest first. */
export const load = adminPage(async (event) => {
	const { audit, database } = event.locals.app;
	const { texts, filter, problems } = await auditSearchOf(event);
	const at = auditPositionOf(event.url.searchParams.get('at'));
	const [actions, { entries, next }] = await Promise.all([
		audit.usedActions(database.db),
		filter ? audit.search(database.db, filter, { after: at, limit: PAGE_SIZE }) : { entries: [], next: null }
	]);
	const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
	const search = new URLSearchParams(given).toString();
	return {
		texts,
		problems,
		actions,
		isFiltered: search !== '',
		entries: await auditLines(event, entries),
		pages: pageLinks(event.url.pathname, given, { parameter: 'at', at, next: next?.join('.') ?? null }),
		search
	};
});
