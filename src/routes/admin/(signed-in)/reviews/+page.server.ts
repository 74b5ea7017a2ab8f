import { adminForm, adminPage, findNames, formatReviewTitle } from '#lib/server/web/admin.ts';
import { idOf, pageById } from '#lib/server/web/page-links.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { readFields } from '#lib/server/web/form.ts';

/** /admin/reviews?resolved&before=ID: open reviews from the oldest, resolved ones from the newest. */
export const load = adminPage(async (event) => {
	const which = event.url.searchParams.has('resolved') ? 'resolved' : 'open';
	const filter = { resolved: which === 'resolved' ? '' : null };
	const { rows: reviews, pages } = await pageById(event, 'at', filter, (at, limit) =>
		event.locals.app.reviews.page(which, { at, limit })
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

export const actions = { default: adminForm(openRefundByHand) };

/** Leads to the review in which a refund by hand is recorded. */
async function openRefundByHand({ request, locals }: RequestEvent) {
	const { field } = await readFields(request);
	const payment = field('payment').trim();
	const id = await locals.app.payments.openRefundByHand(idOf(payment));
	if (id !== null) redirect(303, `/admin/reviews/${id}`);
	const problem = 'Payment number: enter a paid payment that its operator cannot refund.';
	return fail(400, { payment, problem });
}
