import { error } from '@sveltejs/kit';
import { AppError } from '#lib/server/platform/errors.ts';
import { link } from '#lib/i18n/current.ts';
import { numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import { peopleOf } from '#lib/server/web/owner/people.ts';
import { pageLinks } from '#lib/server/web/page-links.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

/** /owner/people?group=active|expired */
export const load: PageServerLoad = async (event) => {
	const { actor } = await requireOwner(event);
	const { sessions, cursors } = event.locals.app;
	const group = event.url.searchParams.get('group') === 'expired' ? 'expired' : 'active';
	const cursor = event.url.searchParams.get('cursor');
	const filters = ['owner/people', actor.accountId, group];
	let after: readonly [number, number] | null;
	try {
		after = cursor === null ? null : cursors.decode(cursor, filters);
	} catch (problem) {
		if (problem instanceof AppError) error(404, m.common_error_not_found());
		throw problem;
	}
	const of = { limit: PAGE_SIZE, after };
	const [page, count] =
		group === 'active'
			? await sessions.activeForOwner(actor, of).then((found) => [found, numberText(found.count)] as const)
			: [await sessions.endedForOwner(actor, of), null];
	const next = page.next && cursors.encode(page.next, filters);
	return {
		group,
		count,
		people: await peopleOf(event.locals.app, page.data),
		pages: pageLinks(link('/owner/people'), { group }, { parameter: 'cursor', at: after, next })
	};
};
