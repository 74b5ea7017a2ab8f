import type { Books, SimulatedPayment, SimulatedRefund } from './books.ts';
import type { Desk, OutgoingCallback, SimulatorAnswer, SimulatorRequest } from './simulator.ts';
import { ORDINARY, type Script } from './script.ts';
import {
	type Body,
	type Portal,
	type Refusal,
	accountOf,
	amountRefusal,
	isClosed,
	isFinal,
	isRefusal,
	isUuid,
	iso,
	ok,
	readBody,
	refundRefusal,
	refuse,
	reject,
	serverError,
	stateOf,
	transactionId,
	walletOf
} from './pawapay-rules.ts';

/** Refunds of pawaPay: of a part or of what is left of a completed deposit, each with an id and a callback of its own. */

interface RefundEntry {
	refund: SimulatedRefund;
	payment: SimulatedPayment;
	request: Body;
	script: Script;
	reads: number;
}

/** @param send makes a signed callback */
export function createRefunds(
	portal: Portal,
	send: (url: string, data: Body, now: number) => Promise<OutgoingCallback>
) {
	const refunds = new Map<string, RefundEntry>();

	async function refund(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer> {
		const { books } = desk;
		const body = readBody(request.body, request.headers['content-type']);
		if (isRefusal(body)) return refuse(body.code, body.message);
		const wrong = refundRefusal(body);
		if (wrong) return reject(wrong, body, 'refundId');
		const reference = String(body['refundId']).toLowerCase();
		const known = refunds.get(reference);
		if (known) {
			const created = iso(known.refund.queuedAt);
			return ok({ refundId: known.request['refundId'], status: 'DUPLICATE_IGNORED', created });
		}
		const payment = books.byReference(String(body['depositId']).toLowerCase());
		const rejected = refundRejection(body, payment, books);
		if (rejected || !payment) {
			return reject(rejected ?? { code: 'NOT_FOUND', message: 'Deposit not found.' }, body, 'refundId');
		}
		const script: Script = { ...ORDINARY, afterMs: 0, ...payment.script.refund };
		return desk.refund(script, {
			queue: () => {
				const amount = body['amount'] === undefined ? left(payment, books) : Number(body['amount']);
				const { outcome, afterMs } = script;
				const entry = {
					refund: {
						reference,
						paymentNumber: payment.number,
						amount,
						currency: payment.currency,
						queuedAt: books.now(),
						outcome,
						afterMs
					},
					payment,
					request: body,
					script,
					reads: 0
				};
				refunds.set(reference, entry);
				books.refunds.push(entry.refund);
				if (outcome !== 'pending') {
					desk.later(afterMs, () => refundCallback(entry, books));
				}
				return entry;
			},
			answer: (entry) =>
				ok({ refundId: body['refundId'], status: 'ACCEPTED', created: iso(entry.refund.queuedAt) }),
			refuse: (code) => reject({ code, message: `Simulated ${code}` }, body, 'refundId'),
			rateLimited: () => ({ status: 429, body: { message: 'Too many requests' } }),
			serverError
		});
	}

	function refundRejection(body: Body, payment: SimulatedPayment | undefined, books: Books): Refusal | null {
		if (portal.refunds !== 'on') return { code: 'REFUNDS_NOT_ALLOWED', message: 'Refunds are not enabled.' };
		if (!payment) return { code: 'NOT_FOUND', message: `Deposit ${String(body['depositId'])} not found.` };
		if (books.outcomeOf(payment) !== 'success') {
			return { code: 'INVALID_STATE', message: 'The deposit is not completed.' };
		}
		if (body['currency'] !== undefined && body['currency'] !== payment.currency) {
			return { code: 'INVALID_CURRENCY', message: 'The deposit was in another currency.' };
		}
		const { provider } = accountOf(payment.request);
		const wallet = { ...walletOf(provider, payment.currency), min: 0, max: Infinity };
		const amount = body['amount'] === undefined ? null : amountRefusal(String(body['amount']), wallet);
		if (amount) return amount;
		const open = books.refunds.find(
			(one) => one.paymentNumber === payment.number && !isFinal(books.refundOutcome(one))
		);
		if (open)
			return { code: 'REFUND_IN_PROGRESS', message: 'Another refund of this deposit is in progress.' };
		if (left(payment, books) <= 0) {
			return { code: 'DEPOSIT_ALREADY_REFUNDED', message: 'The deposit is refunded already.' };
		}
		if (Number(body['amount'] ?? 0) > left(payment, books)) {
			return { code: 'AMOUNT_TOO_LARGE', message: 'Amount should not be greater than what is left.' };
		}
		if (isClosed(portal, provider)) {
			return { code: 'PROVIDER_TEMPORARILY_UNAVAILABLE', message: `'${provider}' is not available.` };
		}
		return null;
	}

	/** Amount not refunded yet. */
	const left = (payment: SimulatedPayment, books: Books) =>
		books.takenOf(payment) -
		books.refunds
			.filter((one) => one.paymentNumber === payment.number && books.refundOutcome(one) === 'success')
			.reduce((sum, { amount }) => sum + amount, 0);

	function readRefund(id: string, { books }: Desk): SimulatorAnswer {
		if (!isUuid(id)) return refuse('INVALID_PARAMETER', "The parameter 'refundId' is not valid.");
		const entry = refunds.get(id.toLowerCase());
		if (!entry) return ok({ status: 'NOT_FOUND' });
		entry.reads += 1;
		const { notFoundReads, failedReads } = entry.script;
		if (entry.reads <= notFoundReads) return ok({ status: 'NOT_FOUND' });
		if (entry.reads <= notFoundReads + failedReads) return serverError();
		return ok({ status: 'FOUND', data: refundData(entry, books) });
	}

	function refundData({ refund: row, payment, request, reads }: RefundEntry, books: Books): Body {
		const outcome = books.refundOutcome(row);
		const { provider } = accountOf(payment.request);
		const isWhole = walletOf(provider, row.currency).decimals === 'NONE';
		return {
			refundId: request['refundId'],
			...stateOf(outcome, reads <= 1 ? 'ACCEPTED' : 'PROCESSING'),
			amount: isWhole ? String(row.amount) : row.amount.toFixed(2),
			currency: row.currency,
			country: provider.slice(-3),
			recipient: payment.request['payer'],
			created: iso(row.queuedAt),
			...(outcome === 'success'
				? { providerTransactionId: transactionId(500_000 + books.refunds.indexOf(row)) }
				: {})
		};
	}

	async function refundCallback(entry: RefundEntry, books: Books): Promise<OutgoingCallback | null> {
		const url = portal.callback_url;
		if (!url || !isFinal(books.refundOutcome(entry.refund))) return null;
		return send(url, refundData(entry, books), books.now());
	}

	return { refund, readRefund };
}
