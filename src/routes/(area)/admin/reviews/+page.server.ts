import { openRefundByHand } from '#lib/server/billing/decisions.ts';
import { listReviews } from '#lib/server/billing/reviews.ts';
import { adminForm, adminPage, findNames, formatReviewTitle } from '#lib/server/web/admin.ts';
import { idOf, pageById } from '#lib/server/web/page-links.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { readFields } from '#lib/server/web/form.ts';

/** /admin/reviews?resolved&before=ID: open reviews from the oldest, resolved ones from the newest. */
export const load = adminPage(async (event) => {
	const which = event.url.searchParams.has('resolved') ? 'resolved' : 'open';
	const filter = { resolved: which === 'resolved' ? '' : null };
	const { rows: reviews, pages } = await pageById(event, 'at', filter, (at, limit) =>
		listReviews(event.locals.app, which, { at, limit })
	);
	const actors = reviews.map(({ resolved_by }) => resolved_by);
	const nameOf = await findNames(event, actors);
	return {
		which,
		reviews: reviews.map((review) => ({
			...{ id: review.id, subject: review.subject, detail: review.detail, decision: review.decision },
			title: formatReviewTitle(review),
			openedAt: review.opened_at,
			resolvedAt: review.resolved_at,
			resolvedBy: nameOf(review.resolved_by ?? '')
		})),
		pages
	};
});

export const actions = { default: adminForm(leadToRefundByHand) };

/** Leads to the review in which a refund by hand is recorded. */
async function leadToRefundByHand({ request, locals }: RequestEvent) {
	const { field } = await readFields(request);
	const payment = field('payment').trim();
	const id = await openRefundByHand(locals.app, idOf(payment));
	if (id !== null) redirect(303, `/admin/reviews/${id}`);
	const problem = 'Payment number: enter a paid payment that its operator cannot refund.';
	return fail(400, { payment, problem });
}
