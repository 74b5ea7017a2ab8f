import { type RequestEvent, error, fail, redirect } from '@sveltejs/kit';
import { DECISIONS, MAX_TRANSACTION } from '#lib/domain/help.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { moment } from '#lib/format/text.ts';
import {
	type Evidence,
	carryOutDecision,
	findEvidence,
	listDecisions,
	openRefundByHand
} from '../../billing/decisions.ts';
import { type Review, type ReviewReason, findReview } from '../../billing/reviews.ts';
import { attempt } from '../../platform/errors.ts';
import { readFields } from '../form.ts';
import { idOf } from '../page-links.ts';
import type { Visitor } from '../sign-in/sign-in.ts';
import { actorOf, namesOf, readReason } from './admin.ts';
import { auditLines } from './audit.ts';

type ReviewEvent = RequestEvent<{ id: string }>;

const REASONS: Record<ReviewReason, string> = {
	amount_mismatch: 'Another amount was taken',
	amount_unknown: 'Nobody has told the amount that was taken',
	contradiction: 'The operator contradicts itself',
	no_reference: 'The operator’s reference was lost',
	no_final_answer: 'The operator gives no final answer',
	refund_not_supported: 'The operator cannot refund',
	refund_refused: 'The operator refused the refund',
	refund_failed: 'The refund failed',
	refund_no_final_answer: 'Nobody knows if the refund arrived',
	refund_by_hand: 'A person refunds by hand',
	statement_unknown: 'The statement has a payment that we do not know',
	statement_paid: 'The statement says paid, we do not',
	statement_missing: 'The statement lacks a payment',
	statement_amount: 'The statement has another amount'
};

export const titleOf = (review: Review): string => REASONS[review.reason as ReviewReason] ?? review.reason;

export async function reviewOf({ params, locals }: ReviewEvent): Promise<Review> {
	const review = await findReview(locals.app, idOf(params.id));
	if (!review) error(404, 'Not found');
	return review;
}

/** Returns a review with the facts that a person needs for a decision. Phone numbers are masked. */
export async function reviewPage(event: ReviewEvent) {
	const review = await reviewOf(event);
	const { app } = event.locals;
	const evidence = review.payment_id === null ? null : await findEvidence(app, review.payment_id);
	const nameOf = await namesOf(event, [review.resolved_by]);
	const { id, subject, detail, opened_at, resolved_at, decision, note } = review;
	return {
		review: {
			...{ id, subject, detail, decision, note },
			title: titleOf(review),
			openedAt: opened_at,
			resolvedAt: resolved_at,
			resolvedBy: nameOf(review.resolved_by ?? '')
		},
		decisions: resolved_at === null ? listDecisions(review, evidence?.payment ?? null) : [],
		payment: evidence && factsOf(evidence, app.config.reportTimezone),
		refunds: (evidence?.refunds ?? []).map((refund) => ({
			...{ id: refund.id, status: refund.status, reason: refund.reason },
			...{ sent: refund.submit_state, at: refund.created_at, reference: refund.reference },
			amount: formatMinor(refund.amount_minor, refund.currency)
		})),
		messages: (evidence?.messages ?? []).map(({ id: message, received_at, kind, outcome, raw }) => ({
			...{ id: message, at: received_at, kind, outcome },
			text: raw ?? ''
		})),
		history: await auditLines(event, evidence?.audit ?? []),
		isDecided: event.url.searchParams.has('decided')
	};
}

function factsOf({ payment }: Evidence, timeZone: string): [label: string, value: string][] {
	const { settled_minor: taken, settled_currency: currency } = payment;
	const timeText = (at: number | null) =>
		at === null ? null : moment(at, timeZone, { second: '2-digit', year: 'numeric' });
	const facts: [string, string | null][] = [
		['Payment', String(payment.id)],
		['Session', String(payment.session_id)],
		['Status', payment.status],
		['Requested', formatMinor(payment.amount_minor, payment.currency)],
		['Taken', taken === null ? null : formatMinor(taken, currency ?? payment.currency)],
		['Number', maskPhone(payment.phone)],
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
export async function decideReview(event: ReviewEvent, admin: Visitor) {
	const review = await reviewOf(event);
	const { field } = await readFields(event.request);
	const transaction = field('transaction').trim();
	const reason = readReason(field);
	const { note } = reason;
	const decision = DECISIONS.find((one) => one === field('decision'));
	const refused = (status: number, problem: string) => fail(status, { note, transaction, problem });
	if (!decision) return refused(400, 'Choose a decision.');
	if (reason.problem !== null) return refused(400, reason.problem);
	if (transaction.length > MAX_TRANSACTION)
		return refused(400, `Transaction id: use at most ${MAX_TRANSACTION} characters.`);
	const order = { decision, by: actorOf(admin), note, transaction: transaction || null };
	const problem = await attempt(() => carryOutDecision(event.locals.app, review, order));
	if (problem) return refused(409, problem.message);
	redirect(303, `/admin/reviews/${review.id}?decided`);
}

/** Leads to the review in which a refund by hand is recorded. */
export async function leadToRefundByHand({ request, locals }: RequestEvent) {
	const { field } = await readFields(request);
	const payment = field('payment').trim();
	const id = await openRefundByHand(locals.app, idOf(payment));
	if (id !== null) redirect(303, `/admin/reviews/${id}`);
	const problem = 'Payment number: enter a paid payment that its operator cannot refund.';
	return fail(400, { payment, problem });
}
