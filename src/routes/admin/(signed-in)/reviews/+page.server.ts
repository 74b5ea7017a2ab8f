import { listReviews } from '#lib/server/billing/reviews.ts';
import { adminForm, adminPage, namesOf } from '#lib/server/web/admin/admin.ts';
import { leadToRefundByHand, titleOf } from '#lib/server/web/admin/reviews.ts';
import { pageById } from '#lib/server/web/page-links.ts';

/** /admin/reviews?resolved&before=ID: open reviews from the oldest, resolved ones from the newest. */
export const load = adminPage(async (event) => {
	const which = event.url.searchParams.has('resolved') ? 'resolved' : 'open';
	const filter = { resolved: which === 'resolved' ? '' : null };
	const { rows: reviews, pages } = await pageById(event, 'at', filter, (at, limit) =>
		listReviews(event.locals.app, which, { at, limit })
	);
	const actors = reviews.map(({ resolved_by }) => resolved_by);
	const nameOf = await namesOf(event, actors);
	return {
		which,
		reviews: reviews.map((review) => ({
			...{ id: review.id, subject: review.subject, detail: review.detail, decision: review.decision },
			title: titleOf(review),
			openedAt: review.opened_at,
			resolvedAt: review.resolved_at,
			resolvedBy: nameOf(review.resolved_by ?? '')
		})),
		pages
	};
});

export const actions = { default: adminForm(leadToRefundByHand) };
