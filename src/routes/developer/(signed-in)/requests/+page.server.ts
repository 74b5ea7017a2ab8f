import { requireVisitor } from '#lib/server/web/sign-in.ts';
import { keysOf } from '../keys/keys.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;
const CLASSES = [2, 4, 5] as const;

/** /developer/requests?status=2|4|5&key=ID&before=ID: the account's API requests, newest first. */
export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { requestLog } = event.locals.app;
	const search = event.url.searchParams;
	const numberOf = (name: string) =>
		/^\d{1,15}$/.test(search.get(name) ?? '') ? Number(search.get(name)) : null;
	const statusClass = CLASSES.find((one) => one === numberOf('status')) ?? null;
	const keys = await keysOf(event, visitor);
	const key = keys.find(({ id }) => id === numberOf('key')) ?? null;
	const before = numberOf('before');
	const found = await requestLog.recent(visitor.account.id, {
		before,
		// One extra row shows whether there is another page.
		limit: PAGE_SIZE + 1,
		...(statusClass === null ? {} : { statusClass }),
		...(key === null ? {} : { keyId: key.id })
	});
	const entries = found.slice(0, PAGE_SIZE);
	const hints = new Map(keys.map(({ id, hint }) => [id, hint]));
	return {
		entries: entries.map((entry) => ({ ...entry, hint: hints.get(entry.keyId) ?? '' })),
		older: found.length > PAGE_SIZE ? (entries.at(-1)?.id ?? null) : null,
		isFirst: before === null,
		filter: { status: statusClass, key: key?.id ?? null },
		keys: keys.map(({ id, name, hint }) => ({ id, name, hint }))
	};
};
