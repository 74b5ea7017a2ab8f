import { accountFilterOf } from '#lib/server/web/admin/accounts.ts';
import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import { idOf, pageLinks } from '#lib/server/web/page-links.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

/** /admin/accounts?email=&role=&status=&at=ID: newest first. */
export const load: PageServerLoad = async (event) => {
	await requireAdmin(event);
	const filter = accountFilterOf(event);
	const at = idOf(event.url.searchParams.get('at')) || null;
	const page = { before: at, limit: PAGE_SIZE + 1 };
	const found = await event.locals.app.accounts.search(filter, page);
	const accounts = found.slice(0, PAGE_SIZE);
	const next = found.length > PAGE_SIZE ? (accounts.at(-1)?.id ?? null) : null;
	const given = { ...filter, email: filter.email || null };
	return {
		filter,
		accounts,
		pages: pageLinks(event.url.pathname, given, { parameter: 'at', at, next })
	};
};
