import { adminPage, listAuditLines, readAuditSearch } from '#lib/server/web/admin.ts';
import { PAGE_SIZE, readPage } from '#lib/server/web/page-links.ts';

/** /admin/audit?who=&actor=&action=&payment=&router=&from=&to=&at=: newest first. */
export const load = adminPage(async (event) => {
	const { audit, database } = event.locals.app;
	const { texts, filter, problems } = await readAuditSearch(event);
	const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
	const [actions, { entries, pages }] = await Promise.all([
		audit.usedActions(database.db),
		readPage(event, { parameter: 'at', length: 2, filters: given }, async (after) =>
			filter ? audit.search(database.db, filter, { after, limit: PAGE_SIZE }) : { entries: [], next: null }
		)
	]);
	const search = new URLSearchParams(given).toString();
	return {
		texts,
		problems,
		actions,
		isFiltered: search !== '',
		entries: await listAuditLines(event, entries),
		pages,
		search
	};
});
