import { formatMinor } from '#lib/domain/money.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { App } from '#lib/server/app.ts';
import { DECISIONS } from '#lib/domain/decision.ts';
import type { Evidence } from '#lib/server/billing/reviews/decisions.ts';
import type { Review } from '#lib/server/billing/reviews/reviews.ts';
import { defineCommand, AUTHOR_OPTIONS, authorOf, oneOf, required } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { plain, print, tableLine } from '../support/output.ts';

const LIST_PAGE_ROWS = 500;

const reviewLine = tableLine(5, 24, 22, 20);

export const listReviews = defineCommand({
	name: 'review list',
	parameters: '[--resolved]',
	summary: 'List the reviews: decisions about money that a person must make.',
	help: '  --resolved  list resolved reviews instead, newest first',
	options: { resolved: { type: 'boolean' } },
	async run({ values: { resolved }, open }) {
		const which = resolved ? 'resolved' : 'open';
		const { reviews } = await open();
		await print(reviewLine('ID', 'SINCE', 'REASON', 'ABOUT', resolved ? 'DECISION' : 'DETAIL'));
		for (let at: number | null = null; ;) {
			const page = await reviews.page(which, { at, limit: LIST_PAGE_ROWS });
			for (const { id, opened_at, reason, subject, decision, detail } of page) {
				const last = (resolved ? decision : detail) ?? '';
				await print(reviewLine(String(id), isoTime(opened_at), reason, subject, last));
				at = id;
			}
			if (page.length === 0) return;
		}
	}
});

export const showReview = defineCommand({
	name: 'review show',
	parameters: 'ID',
	summary: 'Show a review with everything that is known about its payment.',
	help: 'Shows the messages of operators without phone numbers and credentials.',
	options: {},
	async run({ argument, open }) {
		const app = await open();
		const { id, reason, subject, opened_at, detail, ...review } = await reviewOf(app, argument);
		await print(`Review ${id}: ${reason}, ${plain(subject)}, since ${isoTime(opened_at)}`);
		if (detail !== null) await print(`  ${plain(detail)}`);
		if (review.decision !== null) {
			const by = `${review.resolved_by ?? ''} at ${isoTime(review.resolved_at) ?? ''}`;
			await print(plain(`  ${review.decision} by ${by}: ${review.note ?? ''}`));
		}
		const evidence = review.payment_id === null ? null : await app.payments.evidenceOf(review.payment_id);
		if (evidence) await printEvidence(evidence);
	}
});

export const resolveReview = defineCommand({
	name: 'review resolve',
	parameters: `ID --decision ${DECISIONS.join('|')} --by NAME --note TEXT [--transaction ID]`,
	summary: 'Decide a review. The running server then moves the money.',
	help: [
		"  --decision paid          the operator's books say that the payer paid: grants the time or refunds it",
		"  --decision unpaid        the operator's books say that the payer was not charged",
		'  --decision retry-refund  ask the operator for the refund again',
		'  --decision refunded      the money was refunded by hand',
		'  --decision dismiss       nothing needs to be done; refused while a failed refund is still to be paid',
		'  --by NAME                your name',
		'  --note TEXT              the reason, with its source',
		"  --transaction ID         the operator's id of the transaction, with paid and refunded"
	].join('\n'),
	options: {
		...AUTHOR_OPTIONS,
		decision: { type: 'string' },
		transaction: { type: 'string' }
	},
	async run({ argument, values, open }) {
		const order = {
			decision: oneOf(required(values.decision, '--decision'), DECISIONS, '--decision'),
			...authorOf(values),
			transaction: values.transaction?.trim() ?? null
		};
		const app = await open();
		const review = await reviewOf(app, argument);
		await app.payments.decide(review, order);
		console.error(`Review ${review.id} is resolved: ${order.decision}.`);
	}
});

async function reviewOf(app: App, text: string): Promise<Review> {
	const review = /^\d+$/.test(text) ? await app.reviews.find(Number(text)) : null;
	if (!review) throw new CommandError(`There is no review ${plain(text)}; see "review list".`);
	return review;
}

async function printEvidence({ payment, refunds, messages, audit }: Evidence): Promise<void> {
	await print('\nPayment');
	for (const [name, value] of Object.entries(payment)) {
		if (value === null) continue;
		const isTime = name.endsWith('_at') && typeof value === 'number';
		const text = name === 'phone' ? `…${String(value).slice(-4)}` : isTime ? isoTime(value) : String(value);
		await print(`  ${name.padEnd(24)} ${plain(text)}`);
	}
	for (const refund of refunds) {
		await print(
			`\nRefund ${refund.id}: ${refund.status}, ${formatMinor(refund.amount_minor, refund.currency)}, ${refund.reason}`
		);
	}
	if (messages.length > 0) await print('\nMessages of the operator');
	for (const { received_at, kind, outcome, raw } of messages) {
		await print(`  ${isoTime(received_at)} ${kind.padEnd(8)} ${outcome.padEnd(12)} ${plain(raw ?? '')}`);
	}
	if (audit.length > 0) await print('\nDecisions');
	for (const { at, actor, action, reason, before, after } of audit) {
		await print(`  ${isoTime(at)} ${plain(actor)}: ${action} (${plain(reason)}) ${before} -> ${after}`);
	}
}
