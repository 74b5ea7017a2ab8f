import { adminPage } from '#lib/server/web/admin.ts';
import { pageById } from '#lib/server/web/page-links.ts';
import { ROLES, searchAccounts } from '#lib/server/accounts/accounts.ts';
import type { RequestEvent } from '@sveltejs/kit';

/** /admin/accounts?email=&role=&status=&at=ID: newest first. */
export const load = adminPage(async (event) => {
	const filter = readFilter(event);
	const given = { ...filter, email: filter.email || null };
	const { rows, pages } = await pageById(event, 'at', given, (before, limit) =>
		searchAccounts(event.locals.app, filter, { before, limit })
	);
	return { filter, accounts: rows, pages };
});

const STATUSES = ['active', 'suspended'] as const;

/** Reads ?email=&role=&status=, each optional. */
const readFilter = ({ url: { searchParams } }: RequestEvent) => ({
	email: (searchParams.get('email') ?? '').replace(/\p{Cc}+/gu, '').trim(),
	role: [...ROLES, 'staff' as const].find((one) => one === searchParams.get('role')) ?? null,
	status: STATUSES.find((one) => one === searchParams.get('status')) ?? null
});
