import { DECISIONS } from '#lib/domain/decision.ts';
import { formatMinor } from '#lib/domain/money.ts';
import type { App } from '#lib/server/app.ts';
import { SANDBOX_STATEMENT } from '#lib/server/billing/operators/sandbox.ts';
import type { Evidence, Review } from '#lib/server/billing/reviews/reviews.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { AUTHOR_OPTIONS, defineCommand, SPAN_OPTIONS, spanOfDays } from '../support/command.ts';
import { CommandError, UsageError } from '../support/errors.ts';
import { readInput } from '../support/files.ts';
import { plain, print, tableLine } from '../support/output.ts';

const LIST_PAGE_ROWS = 500;

const reviewLine = tableLine(5, 24, 22, 20);

const DECISION_HELP = [
	"paid: the operator's books say that the payer paid; grants the time or refunds it",
	"unpaid: the operator's books say that the payer was not charged",
	'retry-refund: ask the operator for the refund again',
	'refunded: the money was refunded by hand',
	'dismiss: nothing needs to be done; refused while a failed refund is still to be paid'
].join('\n');

export const reviewCommands = [
	defineCommand({
		name: 'review list',
		summary: 'List the reviews: decisions about money that a person must make.',
		help: 'Open ones, oldest first.',
		options: { resolved: { help: 'list resolved reviews instead, newest first' } },
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
	}),
	defineCommand({
		name: 'review show',
		args: ['ID'],
		summary: 'Show a review with everything that is known about its payment.',
		help: 'Shows the messages of operators without phone numbers and credentials.',
		async run({ args: [text], open }) {
			const app = await open();
			const { id, reason, subject, opened_at, detail, ...review } = await reviewOf(app, text);
			await print(`Review ${id}: ${reason}, ${plain(subject)}, since ${isoTime(opened_at)}`);
			if (detail !== null) await print(`  ${plain(detail)}`);
			if (review.decision !== null) {
				const by = `${review.resolved_by ?? ''} at ${isoTime(review.resolved_at) ?? ''}`;
				await print(plain(`  ${review.decision} by ${by}: ${review.note ?? ''}`));
			}
			const evidence = review.payment_id === null ? null : await app.payments.evidenceOf(review.payment_id);
			if (evidence) await printEvidence(evidence);
		}
	}),
	defineCommand({
		name: 'review resolve',
		args: ['ID'],
		summary: 'Decide a review. The running server then moves the money.',
		help: 'Name the source of the decision in the note.',
		options: {
			decision: { words: DECISIONS, help: DECISION_HELP, isNeeded: true },
			...AUTHOR_OPTIONS,
			transaction: { value: 'ID', help: "the operator's id of the transaction, with paid and refunded" }
		},
		async run({ args: [text], values: { transaction, ...order }, open }) {
			const app = await open();
			const review = await reviewOf(app, text);
			await app.payments.decide(review, { ...order, transaction: transaction?.trim() ?? null });
			console.error(`Review ${review.id} is resolved: ${order.decision}.`);
		}
	}),
	defineCommand({
		name: 'statement check',
		args: ['FILE.csv'],
		summary: "Compare an operator's list of settled payments with ours.",
		help: 'FILE.csv is the file (UTF-8) that you download from the operator. Differences become reviews (see "review list"); the list itself settles nothing. Run it daily. Payments of the last hour of the last day are not reported as missing. The last line printed is JSON. The exit code is 1 if there are differences.',
		options: {
			operator: { value: 'ID', help: 'the operator, for example mtn', isNeeded: true },
			...SPAN_OPTIONS
		},
		async run({ args: [file], values: { operator, ...days }, config, folder, open }) {
			const { operators, mode } = config();
			const span = spanOfDays(days, config());
			const known = [...operators, ...(mode === 'sandbox' ? [SANDBOX_STATEMENT] : [])];
			const columns = known.find(({ id }) => id === operator)?.statement;
			if (!columns) {
				const ids = known.map(({ id }) => id).join(', ');
				throw new UsageError(`--operator is one of ${ids}, not "${operator}".`);
			}
			const bytes = await readInput(folder, file);
			const result = await (await open()).payments.checkStatement({ operator, columns, bytes, ...span });
			const differences = result.unknown + result.notPaid + result.amount + result.missing;
			if (differences > 0) console.error(`${differences} differences; see "review list".`);
			await print(JSON.stringify(result));
			return differences > 0 ? 1 : 0;
		}
	})
];

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
