import { error, redirect } from '@sveltejs/kit';
import { ownerVisitor } from '#lib/server/web/owner/owner.ts';
import { pathIn } from '#lib/server/web/sign-in/sign-in.ts';
import type { PageServerLoad } from './$types';

/** Addresses that people have kept, and where their pages are now. */
const MOVED: readonly (readonly [old: RegExp, now: string])[] = [
	[/^owner\/(earnings|payments)$/, 'owner/money'],
	[/^owner\/earnings\/statement$/, 'owner/money/statement'],
	[/^owner\/payments\/export$/, 'owner/money/export'],
	[/^owner\/(account|alerts|brand|staff)$/, 'owner/settings?show=$1'],
	[/^(owner\/routers\/\d+)\/(price|sales)$/, '$1'],
	[/^(owner\/routers\/\d+)\/access$/, '$1/edit'],
	[/^(owner\/customers\/\d+)\/(code|move|extend|refund|by-hand|end)$/, '$1'],
	[/^developer\/keys\/new$/, 'developer/keys'],
	[/^(developer\/webhooks\/\d+)\/deliveries\/(\d+)$/, '$1/$2']
];

/** Leads an old address to its page, and keeps a wrong one in its area. */
export const load: PageServerLoad = async (event) => {
	const { area, unknown } = event.params;
	const asked = `${area}/${unknown}`;
	const moved = MOVED.find(([old]) => old.test(asked));
	if (moved) redirect(301, pathIn(area, `/${asked.replace(...moved)}`) + event.url.search);
	if (area === 'owner') await ownerVisitor(event);
	error(404, 'Not found');
};
