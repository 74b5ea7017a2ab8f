import { isoTime } from '#lib/server/platform/clock.ts';
import type { App } from '#lib/server/app.ts';
import { DECISIONS, DecisionRefused, type Evidence } from '#lib/server/billing/reviews/decisions.ts';
import type { Review } from '#lib/server/billing/reviews/reviews.ts';
import { oneOf, parseCommand, positionals, required, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { plain, print } from '../support/output.ts';
import { withConfiguredApp } from '../support/services.ts';

export const listReviews: Command = {
	name: 'review list',
	parameters: '[--resolved]',
	summary: 'List the questions about money that a person must decide.',
	help: '  --resolved  list decided questions instead',
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, { resolved: { type: 'boolean' } });
		positionals(words, []);
		return withConfiguredApp(context, async (app) => {
			const reviews = await app.reviews.list(values.resolved ? 'resolved' : 'open');
			await print(reviewLine(['ID', 'SINCE', 'REASON', 'ABOUT', values.resolved ? 'DECISION' : 'DETAIL']));
			for (const review of reviews) {
				await print(
					reviewLine([
						String(review.id),
						isoTime(review.opened_at),
						review.reason,
						plain(review.subject),
						plain((values.resolved ? review.decision : review.detail) ?? '')
					])
				);
			}
			return 0;
		});
	}
};

export const showReview: Command = {
	name: 'review show',
	parameters: 'ID',
	summary: 'Show a question with everything that is known about its payment.',
	help: 'Shows the messages of operators without phone numbers and credentials.',
	async run(args, context) {
		const { positionals: words } = parseCommand(args, {});
		const [id = ''] = positionals(words, ['ID']);
		return withConfiguredApp(context, async (app) => {
			const review = await reviewOf(app, id);
			await print(
				`Review ${review.id}: ${review.reason}, ${plain(review.subject)}, since ${isoTime(review.opened_at)}`
			);
			if (review.detail !== null) await print(`  ${plain(review.detail)}`);
			if (review.decision !== null) {
				await print(
					`  ${review.decision} by ${plain(review.resolved_by ?? '')} at ${isoTime(review.resolved_at) ?? ''}: ${plain(review.note ?? '')}`
				);
			}
			const evidence = review.payment_id === null ? null : await app.payments.evidenceOf(review.payment_id);
			if (evidence) await printEvidence(evidence);
			return 0;
		});
	}
};

export const resolveReview: Command = {
	name: 'review resolve',
	parameters: `ID --decision ${DECISIONS.join('|')} --by NAME --note TEXT [--transaction ID]`,
	summary: 'Decide a question. The running server then moves the money.',
	help: [
		"  --decision paid          the operator's books say that the payer paid: grants the time or refunds it",
		"  --decision unpaid        the operator's books say that the payer was not charged",
		'  --decision retry-refund  ask the operator for the refund again',
		'  --decision refunded      the money was refunded by hand',
		'  --decision dismiss       nothing needs to be done',
		'  --by NAME                your name',
		'  --note TEXT              the reason, with its source',
		"  --transaction ID         the operator's id of the transaction, with paid and refunded"
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
			decision: { type: 'string' },
			by: { type: 'string' },
			note: { type: 'string' },
			transaction: { type: 'string' }
		});
		const [id = ''] = positionals(words, ['ID']);
		const order = {
			decision: oneOf(required(values.decision, '--decision'), DECISIONS, '--decision'),
			by: required(values.by, '--by'),
			note: required(values.note, '--note'),
			transaction: values.transaction?.trim() ?? null
		};
		return withConfiguredApp(context, async (app) => {
			const review = await reviewOf(app, id);
			if (review.resolved_at !== null) throw new CommandError(`Review ${review.id} is resolved already.`);
			try {
				await app.payments.decide(review, order);
			} catch (error) {
				if (error instanceof DecisionRefused) throw new CommandError(error.message);
				throw error;
			}
			console.error(`Review ${review.id} is resolved: ${order.decision}.`);
			return 0;
		});
	}
};

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
			`\nRefund ${refund.id}: ${refund.status}, ${refund.currency} ${refund.amount_minor} (minor units), ${refund.reason}`
		);
	}
	if (messages.length > 0) await print('\nWhat the operator said');
	for (const { received_at, kind, outcome, raw } of messages) {
		await print(`  ${isoTime(received_at)} ${kind.padEnd(8)} ${outcome.padEnd(12)} ${plain(raw ?? '')}`);
	}
	if (audit.length > 0) await print('\nWhat was decided');
	for (const { at, actor, action, reason, before, after } of audit) {
		await print(`  ${isoTime(at)} ${plain(actor)}: ${action} (${plain(reason)}) ${before} -> ${after}`);
	}
}

const REVIEW_WIDTHS = [5, 24, 22, 20, 0];

const reviewLine = (cells: string[]) =>
	cells.map((text, column) => text.padEnd(REVIEW_WIDTHS[column] ?? 0)).join('  ');
