import type { Books, SimulatedPayment, SimulatedRefund } from './books.ts';
import {
	type Desk,
	type Protocol,
	type ProtocolOptions,
	type SimulatorAnswer,
	type SimulatorRequest,
	checkOptions
} from './simulator.ts';
import {
	Access,
	CREDENTIALS,
	type Market,
	type PaymentOrder,
	type Product,
	type RefundOrder,
	type TransferOrder,
	SANDBOX,
	failure,
	gateway,
	marketNamed,
	messageOf,
	ok,
	readPaymentOrder,
	readRefundOrder,
	readTransferOrder,
	rejected
} from './mtn-rules.ts';
import { ORDINARY, type RefundScript } from './script.ts';

/**
 * MTN MoMo: Collection (request to pay), and the refund and the transfer of Disbursement, as the operator's
 * pages and its integrators describe them. By default it is the sandbox (EUR only); `--market mtnuganda` makes it
 * that market's platform.
 */

interface KeptRefund {
	order: RefundOrder;
	payer: PaymentOrder['payer'] | null;
	refund: SimulatedRefund;
	script: RefundScript;
	otherForm: boolean;
	reads: number;
}

/**
 * @param options `market` as in X-Target-Environment
 * @throws Error for a market that there is not
 */
export function mtn(options: ProtocolOptions = {}): Protocol {
	checkOptions(options, ['market']);
	const market = marketNamed(options['market'] ?? SANDBOX.environment);
	const access = new Access(market);
	const refunds = new Map<string, KeptRefund>();

	async function handle(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer | null> {
		const [, product, call = ''] = /^\/(collection|disbursement)(\/.*)$/.exec(request.path) ?? [];
		if (product !== 'collection' && product !== 'disbursement') return null;
		const route = `${request.method} ${call}`;
		if (route === 'POST /token/') return access.giveToken(request, product, desk.books.now());
		const operation = operationOf(product, route);
		if (!operation) return null;
		return access.enter(request, product, desk.books.now()) ?? operation(request, desk);
	}

	type Operation = (request: SimulatorRequest, desk: Desk) => SimulatorAnswer | Promise<SimulatorAnswer>;

	function operationOf(product: Product, route: string): Operation | null {
		if (route === 'GET /v1_0/account/balance') return (_, { books }) => balance(books);
		if (product === 'disbursement') {
			if (/^POST \/v[12]_0\/refund$/.test(route)) return sendBack;
			if (route === 'POST /v1_0/transfer') return transfer;
			const sent = /^GET \/v1_0\/transfer\/([^/]+)$/.exec(route);
			if (sent) return (_, desk) => transferStatus(sent[1] ?? '', desk);
			const read = /^GET \/v[12]_0\/refund\/([^/]+)$/.exec(route);
			return read ? (_, { books }) => refundStatus(read[1] ?? '', books) : null;
		}
		if (route === 'POST /v1_0/requesttopay') return requestToPay;
		const read = /^GET \/v1_0\/requesttopay\/([^/]+)$/.exec(route);
		return read ? (_, desk) => paymentStatus(read[1] ?? '', desk) : null;
	}

	function requestToPay(request: SimulatorRequest, desk: Desk): SimulatorAnswer | Promise<SimulatorAnswer> {
		const order = readPaymentOrder(request, market);
		if ('problem' in order) return rejected(order.problem);
		if (desk.books.byReference(order.reference)) return failure('RESOURCE_ALREADY_EXIST');
		if (order.currency !== market.currency) return failure('INVALID_CURRENCY');
		const { callbackUrl, payer } = order;
		if (callbackUrl !== null && !CALLBACK_HOSTS.includes(new URL(callbackUrl).hostname)) {
			return failure('INVALID_CALLBACK_URL_HOST');
		}
		const script = desk.books.scriptFor(payer.partyId, order.reference);
		return desk.submit(script, {
			queue: () =>
				desk.books.add({
					reference: order.reference,
					operatorReference: order.reference,
					phone: payer.partyId,
					amount: Number(order.amount),
					currency: order.currency,
					callbackUrl: isCalled(callbackUrl, market) ? callbackUrl : null,
					request: { ...order },
					script: hasWallet(order, market) ? script : { ...script, outcome: 'PAYER_NOT_FOUND' }
				}),
			answer: () => ok(null, 202),
			refuse: (code) => failure(code),
			rateLimited,
			serverError
		});
	}

	function paymentStatus(reference: string, desk: Desk): SimulatorAnswer {
		const payment = desk.books.byReference(reference.toLowerCase());
		if (!payment) return failure('RESOURCE_NOT_FOUND');
		const fault = desk.read(payment);
		if (fault === 'not_found') return failure('RESOURCE_NOT_FOUND');
		if (fault === 'server_error') return serverError();
		const outcome = desk.books.outcomeOf(payment);
		const reported =
			payment.script.contradicts && outcome === 'success' ? 'INTERNAL_PROCESSING_ERROR' : outcome;
		return ok(paymentBody(payment, reported));
	}

	function sendBack(request: SimulatorRequest, desk: Desk): SimulatorAnswer | Promise<SimulatorAnswer> {
		const order = readRefundOrder(request, market);
		if ('problem' in order) return rejected(order.problem);
		if (refunds.has(order.reference)) return failure('RESOURCE_ALREADY_EXIST');
		if (order.currency !== market.currency) return failure('INVALID_CURRENCY');
		const { books } = desk;
		const payment = books.byReference(order.referenceIdToRefund.toLowerCase());
		const script = { ...ORDINARY, ...payment?.script.refund };
		return desk.refund(script, {
			queue: () => {
				const refund = {
					reference: order.reference,
					paymentNumber: payment?.number ?? 0,
					amount: Number(order.amount),
					currency: order.currency,
					queuedAt: books.now(),
					outcome: refundProblem(payment, order, books) ?? script.outcome,
					afterMs: script.afterMs
				};
				books.refunds.push(refund);
				const payer = (payment?.request['payer'] as PaymentOrder['payer'] | undefined) ?? null;
				const otherForm = payment?.script.otherForm ?? false;
				refunds.set(order.reference, { order, payer, refund, script, otherForm, reads: 0 });
			},
			answer: () => ok(null, 202),
			refuse: (code) => failure(code),
			rateLimited,
			serverError
		});
	}

	function refundStatus(reference: string, books: Books): SimulatorAnswer {
		const kept = refunds.get(reference.toLowerCase());
		if (!kept) return failure('RESOURCE_NOT_FOUND');
		kept.reads += 1;
		const { notFoundReads, failedReads } = kept.script;
		if (kept.reads <= notFoundReads) return failure('RESOURCE_NOT_FOUND');
		if (kept.reads <= notFoundReads + failedReads) return serverError();
		const { order, payer, refund, otherForm } = kept;
		const outcome = books.refundOutcome(refund);
		const id = REFUND_IDS + books.refunds.indexOf(refund);
		const party = payer ? { payee: payer } : {};
		const refunded = { ...order, ...party, currency: refund.currency };
		return ok(statusBody(refunded, { outcome, id, amount: order.amount, otherForm }));
	}

	function transfer(request: SimulatorRequest, desk: Desk): SimulatorAnswer | Promise<SimulatorAnswer> {
		const order = readTransferOrder(request, market);
		if ('problem' in order) return rejected(order.problem);
		const { books } = desk;
		if (books.payoutOf(order.reference)) return failure('RESOURCE_ALREADY_EXIST');
		if (order.currency !== market.currency) return failure('INVALID_CURRENCY');
		const { partyId: phone } = order.payee;
		const script = books.scriptFor(phone, order.reference);
		return desk.refund(script, {
			queue: () => {
				const { reference, amount, currency } = order;
				const sent = { reference, phone, amount: Number(amount), currency, request: { ...order } };
				books.payouts.push({ ...sent, queuedAt: books.now(), script, reads: 0 });
			},
			answer: () => ok(null, 202),
			refuse: (code) => failure(code),
			rateLimited,
			serverError
		});
	}

	function transferStatus(reference: string, desk: Desk): SimulatorAnswer {
		const payout = desk.books.payoutOf(reference);
		const fault = payout ? desk.read(payout) : 'not_found';
		if (fault === 'server_error') return serverError();
		if (!payout || fault === 'not_found') return failure('RESOURCE_NOT_FOUND');
		const order = payout.request as unknown as TransferOrder;
		const { otherForm, amountFactor } = payout.script;
		const id = PAYOUT_IDS + desk.books.payouts.indexOf(payout);
		const amount = String(payout.amount * amountFactor);
		return ok(statusBody(order, { outcome: desk.books.payoutOutcome(payout), id, amount, otherForm }));
	}

	const balance = (books: Books): SimulatorAnswer => {
		const { debited, refunded } = books.ledger();
		return ok({ availableBalance: String(debited - refunded), currency: market.currency });
	};

	return {
		name: 'mtn',
		credentials: { ...CREDENTIALS, target_environment: market.environment, currency: market.currency },
		defaults: () => ({}),
		environment: (url) => ({
			MTN_BASE_URL: url,
			MTN_TARGET_ENVIRONMENT: market.environment,
			MTN_API_USER: CREDENTIALS.api_user,
			MTN_API_KEY: CREDENTIALS.api_key,
			MTN_SUBSCRIPTION_KEY: CREDENTIALS.collection_subscription_key,
			MTN_DISBURSEMENT_SUBSCRIPTION_KEY: CREDENTIALS.disbursement_subscription_key,
			MTN_DISBURSEMENT_API_USER: CREDENTIALS.disbursement_api_user,
			MTN_DISBURSEMENT_API_KEY: CREDENTIALS.disbursement_api_key,
			...(market.country === null ? {} : { CURRENCY: market.currency, DEFAULT_REGION: market.country })
		}),
		handle,
		notFound: () => gateway(404, 'Resource not found'),
		down: () => failure('SERVICE_UNAVAILABLE'),
		callback(payment, outcome, { method = 'POST', alter }) {
			if (payment.callbackUrl === null) return null;
			const altered = {
				...paymentBody(payment, outcome),
				...(alter === 'wrong_amount' ? { amount: String(payment.amount + 1) } : {}),
				...(alter === 'wrong_id' ? { externalId: 'ffffffff-ffff-4fff-bfff-ffffffffffff' } : {})
			};
			return {
				url: payment.callbackUrl,
				method,
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify(altered)
			};
		},
		expireTokens: () => access.expireTokens()
	};
}

/** Names that X-Callback-Url may have: this machine, by name and by number. */
const CALLBACK_HOSTS = ['localhost', '127.0.0.1'];

const serverError = (): SimulatorAnswer => failure('INTERNAL_PROCESSING_ERROR');
const rateLimited = (): SimulatorAnswer =>
	gateway(429, 'Rate limit is exceeded. Try again in 1 seconds.', { 'retry-after': '1' });

/** The sandbox calls http addresses only. */
const isCalled = (url: string | null, market: Market): boolean =>
	url !== null && (market.country !== null || url.startsWith('http:'));

/** A number without a country code, or of another country than the market's, has no wallet. */
const hasWallet = ({ payer }: PaymentOrder, { callingCode }: Market): boolean =>
	!payer.partyId.startsWith('0') && payer.partyId.startsWith(callingCode ?? '');

/** First financialTransactionId. */
const PAYMENT_IDS = 1_700_000_000;
const REFUND_IDS = 1_900_000_000;
const PAYOUT_IDS = 2_000_000_000;

function paymentBody(payment: SimulatedPayment, outcome: string): Record<string, unknown> {
	const { script, request, number } = payment;
	const order = request as unknown as PaymentOrder;
	const amount = script.amountFactor === 1 ? order.amount : String(payment.amount * script.amountFactor);
	const { otherForm } = script;
	return statusBody(
		{ ...order, payer: order.payer },
		{ outcome, id: PAYMENT_IDS + number, amount, otherForm }
	);
}

type Told = Partial<PaymentOrder> & { payee?: PaymentOrder['payer'] };

/** A status as a read and a callback have it: never with X-Reference-Id. */
function statusBody(
	{ currency, externalId, payer, payee, payerMessage, payeeNote }: Told,
	{ outcome, id, amount, otherForm }: { outcome: string; id: number; amount: string; otherForm: boolean }
): Record<string, unknown> {
	const status = outcome === 'success' ? 'SUCCESSFUL' : outcome === 'pending' ? 'PENDING' : 'FAILED';
	const reason = otherForm ? { code: outcome, message: messageOf(outcome) } : outcome;
	return {
		...(status === 'SUCCESSFUL' ? { financialTransactionId: otherForm ? id : String(id) } : {}),
		...(externalId === null ? {} : { externalId }),
		// Without the zeros at the end: 12.50 comes back as 12.5.
		amount: otherForm ? Number(amount) : String(Number(amount)),
		currency,
		...(payer ? { payer } : {}),
		...(payee ? { payee } : {}),
		...(payerMessage === null ? {} : { payerMessage }),
		...(payeeNote === null ? {} : { payeeNote }),
		status,
		...(status === 'FAILED' ? { reason } : {})
	};
}

/** Why money cannot go back; null when it can. */
function refundProblem(
	payment: SimulatedPayment | undefined,
	order: RefundOrder,
	books: Books
): string | null {
	if (!payment) return 'RESOURCE_NOT_FOUND';
	const back = books.refunds
		.filter(({ paymentNumber, outcome }) => paymentNumber === payment.number && outcome === 'success')
		.reduce((sum, { amount }) => sum + amount, 0);
	const left = books.takenOf(payment) - back;
	return Number(order.amount) > left ? 'COULD_NOT_PERFORM_TRANSACTION' : null;
}
