import { accountFilterOf } from '#lib/server/web/admin/accounts.ts';
import { adminPage } from '#lib/server/web/admin/admin.ts';
import { pageById } from '#lib/server/web/page-links.ts';
import { searchAccounts } from '#lib/server/accounts/accounts.ts';

/** /admin/accounts?email=&role=&status=&at=ID: newest first. */
export const load = adminPage(async (event) => {
	const filter = accountFilterOf(event);
	const given = { ...filter, email: filter.email || null };
	const { rows, pages } = await pageById(event, 'at', given, (before, limit) =>
		searchAccounts(event.locals.app, filter, { before, limit })
	);
	return { filter, accounts: rows, pages };
});
