import { idOf, pageById } from '#lib/server/web/page-links.ts';
import { requireDeveloper } from '#lib/server/web/developer.ts';
import type { PageServerLoad } from './$types';
import { listKeys } from '#lib/server/developer/api-keys.ts';
import { listRecentCalls } from '#lib/server/developer/request-log.ts';

const CLASSES = [2, 4, 5] as const;

/** /developer/requests?status=2|4|5&key=ID&before=ID: newest first. */
export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	const { apiKeys, requestLog } = event.locals.app;
	const search = event.url.searchParams;
	const statusClass = CLASSES.find((one) => one === idOf(search.get('status'))) ?? null;
	const keys = (await listKeys(apiKeys, account.id)).toReversed();
	const key = keys.find(({ id }) => id === idOf(search.get('key'))) ?? null;
	const filter = { status: statusClass, key: key?.id ?? null };
	const { rows, pages } = await pageById(event, 'before', filter, (before, limit) =>
		listRecentCalls(requestLog, account.id, { before, limit, statusClass, keyId: filter.key })
	);
	const hints = new Map(keys.map(({ id, hint }) => [id, hint]));
	return {
		entries: rows.map((entry) => ({ ...entry, hint: hints.get(entry.keyId) ?? '' })),
		pages,
		filter,
		keys: keys.map(({ id, name, hint }) => ({ id, name, hint }))
	};
};
