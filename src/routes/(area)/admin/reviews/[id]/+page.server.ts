import {
	actorOf,
	adminForm,
	adminPage,
	findNames,
	formatReviewTitle,
	listAuditLines,
	readReason,
	shownNumber
} from '#lib/server/web/admin.ts';
import { type RequestEvent, error, fail, redirect } from '@sveltejs/kit';
import { DECISIONS, MAX_TRANSACTION } from '#lib/domain/help.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { moment } from '#lib/format/text.ts';
import {
	type Evidence,
	carryOutDecision,
	findEvidence,
	listDecisions
} from '#lib/server/billing/decisions.ts';
import { type Review, findReview } from '#lib/server/billing/reviews.ts';
import { attempt } from '#lib/server/platform/errors.ts';
import { readFields } from '#lib/server/web/form.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import type { Visitor } from '#lib/server/web/sign-in/sign-in.ts';

export const load = adminPage(reviewPage);

export const actions = { default: adminForm(decideReview) };

type ReviewEvent = RequestEvent<{ id: string }>;

async function findOpenedReview({ params, locals }: ReviewEvent): Promise<Review> {
	const review = await findReview(locals.app, idOf(params.id));
	if (!review) error(404, 'Not found');
	return review;
}

/** Returns a review with the facts that a person needs for a decision. Phone numbers are masked. */
async function reviewPage(event: ReviewEvent) {
	const review = await findOpenedReview(event);
	const { app } = event.locals;
	const evidence = review.payment_id === null ? null : await findEvidence(app, review.payment_id);
	const nameOf = await findNames(event, [review.resolved_by]);
	const { id, subject, detail, opened_at, resolved_at, decision, note } = review;
	return {
		review: {
			...{ id, subject, detail, decision, note },
			title: formatReviewTitle(review),
			openedAt: opened_at,
			resolvedAt: resolved_at,
			resolvedBy: nameOf(review.resolved_by ?? '')
		},
		decisions: resolved_at === null ? listDecisions(review, evidence?.payment ?? null) : [],
		payment: evidence && listFacts(evidence, app.config.reportTimezone),
		refunds: (evidence?.refunds ?? []).map((refund) => ({
			...{ id: refund.id, status: refund.status, reason: refund.reason },
			...{ sent: refund.submit_state, at: refund.created_at, reference: refund.reference },
			amount: formatMinor(refund.amount_minor, refund.currency)
		})),
		messages: (evidence?.messages ?? []).map(({ id: message, received_at, kind, outcome, raw }) => ({
			...{ id: message, at: received_at, kind, outcome },
			text: raw ?? ''
		})),
		history: await listAuditLines(event, evidence?.audit ?? []),
		isDecided: event.url.searchParams.has('decided')
	};
}

function listFacts({ payment }: Evidence, timeZone: string): [label: string, value: string][] {
	const { settled_minor: taken, settled_currency: currency } = payment;
	const timeText = (at: number | null) =>
		at === null ? null : moment(at, timeZone, { second: '2-digit', year: 'numeric' });
	const facts: [string, string | null][] = [
		['Payment', String(payment.id)],
		['Session', String(payment.session_id)],
		['Status', payment.status],
		['Requested', formatMinor(payment.amount_minor, payment.currency)],
		['Taken', taken === null ? null : formatMinor(taken, currency ?? payment.currency)],
		['Number', shownNumber(payment.phone)],
		['Operator', payment.operator],
		['Ordered', timeText(payment.created_at)],
		['Paid', timeText(payment.paid_at)],
		['Refunded', timeText(payment.refunded_at)],
		['Failure', payment.failure_message],
		['Our reference', payment.reference],
		['Operator’s reference', payment.operator_reference],
		['Transaction', payment.provider_reference]
	];
	return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

/** Carries out the decision of the form, and leads back to the review. */
async function decideReview(event: ReviewEvent, admin: Visitor) {
	const review = await findOpenedReview(event);
	const { field } = await readFields(event.request);
	const transaction = field('transaction').trim();
	const reason = readReason(field);
	const { note } = reason;
	const decision = DECISIONS.find((one) => one === field('decision'));
	const refused = (status: number, problem: string) => fail(status, { decision, note, transaction, problem });
	if (!decision) return refused(400, 'Choose a decision.');
	if (reason.problem !== null) return refused(400, reason.problem);
	if (transaction.length > MAX_TRANSACTION)
		return refused(400, `Transaction id: use at most ${MAX_TRANSACTION} characters.`);
	const order = { decision, by: actorOf(admin), note, transaction: transaction || null };
	const problem = await attempt(() => carryOutDecision(event.locals.app, review, order));
	if (problem) return refused(409, problem.message);
	redirect(303, `/admin/reviews/${review.id}?decided`);
}
