import { idOf, pageLinks } from '#lib/server/web/page-links.ts';
import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import { keysOf } from '#lib/server/web/developer/keys.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;
const CLASSES = [2, 4, 5] as const;

/** /developer/requests?status=2|4|5&key=ID&before=ID: newest first. */
export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { requestLog } = event.locals.app;
	const search = event.url.searchParams;
	const statusClass = CLASSES.find((one) => one === idOf(search.get('status'))) ?? null;
	const keys = await keysOf(event, visitor);
	const key = keys.find(({ id }) => id === idOf(search.get('key'))) ?? null;
	const before = idOf(search.get('before')) || null;
	const found = await requestLog.recent(visitor.account.id, {
		before,
		// One extra row shows whether there is another page.
		limit: PAGE_SIZE + 1,
		statusClass,
		keyId: key?.id ?? null
	});
	const entries = found.slice(0, PAGE_SIZE);
	const hints = new Map(keys.map(({ id, hint }) => [id, hint]));
	const filter = { status: statusClass, key: key?.id ?? null };
	const next = found.length > PAGE_SIZE ? (entries.at(-1)?.id ?? null) : null;
	return {
		entries: entries.map((entry) => ({ ...entry, hint: hints.get(entry.keyId) ?? '' })),
		pages: pageLinks(event.url.pathname, filter, { parameter: 'before', at: before, next }),
		filter,
		keys: keys.map(({ id, name, hint }) => ({ id, name, hint }))
	};
};
