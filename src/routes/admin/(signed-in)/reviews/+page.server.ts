import { namesOf, requireAdmin } from '#lib/server/web/admin/admin.ts';
import { titleOf } from '#lib/server/web/admin/reviews.ts';
import { idOf, pageLinks } from '#lib/server/web/page-links.ts';
import type { PageServerLoad } from './$types';

const PAGE_SIZE = 50;

/** /admin/reviews?resolved&before=ID: open reviews from the oldest, resolved ones from the newest. */
export const load: PageServerLoad = async (event) => {
	await requireAdmin(event);
	const search = event.url.searchParams;
	const which = search.has('resolved') ? 'resolved' : 'open';
	const at = idOf(search.get('at')) || null;
	const found = await event.locals.app.reviews.page(which, { at, limit: PAGE_SIZE + 1 });
	const reviews = found.slice(0, PAGE_SIZE);
	const nameOf = await namesOf(
		event,
		reviews.map(({ resolved_by }) => resolved_by)
	);
	const next = found.length > PAGE_SIZE ? (reviews.at(-1)?.id ?? null) : null;
	const filter = { resolved: which === 'resolved' ? '' : null };
	return {
		which,
		reviews: reviews.map((review) => ({
			...{ id: review.id, subject: review.subject, detail: review.detail, decision: review.decision },
			title: titleOf(review),
			openedAt: review.opened_at,
			resolvedAt: review.resolved_at,
			resolvedBy: nameOf(review.resolved_by ?? '')
		})),
		pages: pageLinks(event.url.pathname, filter, { parameter: 'at', at, next })
	};
};
