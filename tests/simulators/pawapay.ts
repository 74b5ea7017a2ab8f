/**
 * A simulated pawaPay, version 2 of its Merchant API (reference section 5; docs.pawapay.io/v2). Its dashboard
 * (`--portal name=value`, POST /_simulator/portal) holds the callback addresses, the switches for signatures and the
 * merchant's public key.
 */
import { randomUUID } from 'node:crypto';
import type { Books, SimulatedPayment, SimulatedRefund } from './books.ts';
import type { Desk, OutgoingCallback, Protocol, SimulatorAnswer, SimulatorRequest } from './frame.ts';
import {
	depositRefusal,
	isRefusal,
	isUuid,
	metadataOf,
	readBody,
	refundRefusal,
	type Body,
	type Refusal
} from './pawapay/fields.ts';
import { isNumberOf, NETWORKS, predict, testNumber, type Network, type Wallet } from './pawapay/market.ts';
import { isSignedBy, makeKeys, signCallback } from './pawapay/signing.ts';
import { ORDINARY, type CallbackScript, type Script } from './script.ts';

const TOKEN = 'simulated-pawapay-token-1';
const MINUTE = 60_000;
/** Until 15 minutes have passed. */
const RETRIES = [10_000, 20_000, 30_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 6 * MINUTE];
/** Outcomes of a script that are states in which it stays. */
const STATES = ['IN_RECONCILIATION', 'ACCEPTED', 'PROCESSING', 'SUBMITTED', 'ENQUEUED'];

const PORTAL = {
	api_token: TOKEN,
	callback_url: '',
	refund_callback_url: '',
	signed_callbacks: 'off',
	signed_requests: 'off',
	merchant_key_id: '',
	merchant_key: '',
	deposits: 'on',
	refunds: 'on',
	/** Providers that are down, with commas. */
	closed: '',
	/** Whose providers are in the printed settings. */
	country: 'UGA',
	/** `list`: the other form of active-conf. */
	operation_types: 'object'
};

/** Payment methods of Airtill for the printed settings, by country. */
const SETTINGS: Readonly<Record<string, { region: string; currency: string; providers: string }>> = {
	BEN: { region: 'BJ', currency: 'XOF', providers: 'mtn_momo=MTN_MOMO_BEN' },
	CIV: { region: 'CI', currency: 'XOF', providers: 'mtn_momo=MTN_MOMO_CIV,orange_money=ORANGE_CIV' },
	CMR: { region: 'CM', currency: 'XAF', providers: 'mtn_momo=MTN_MOMO_CMR,orange_money=ORANGE_CMR' },
	COD: {
		region: 'CD',
		currency: 'CDF',
		providers: 'mpesa=VODACOM_MPESA_COD,airtel_money=AIRTEL_COD,orange_money=ORANGE_COD'
	},
	GHA: { region: 'GH', currency: 'GHS', providers: 'mtn_momo=MTN_MOMO_GHA,airtel_money=AIRTELTIGO_GHA' },
	KEN: { region: 'KE', currency: 'KES', providers: 'mpesa=MPESA_KEN' },
	RWA: { region: 'RW', currency: 'RWF', providers: 'mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA' },
	TZA: { region: 'TZ', currency: 'TZS', providers: 'mpesa=VODACOM_TZA,airtel_money=AIRTEL_TZA' },
	UGA: { region: 'UG', currency: 'UGX', providers: 'mtn_momo=MTN_MOMO_UGA,airtel_money=AIRTEL_OAPI_UGA' },
	ZMB: { region: 'ZM', currency: 'ZMW', providers: 'mtn_momo=MTN_MOMO_ZMB,airtel_money=AIRTEL_OAPI_ZMB' }
};

/** HTTP statuses of refusals that are not `REJECTED` in a 200. */
const STATUSES: Readonly<Record<string, number>> = {
	INVALID_INPUT: 400,
	MISSING_PARAMETER: 400,
	UNSUPPORTED_PARAMETER: 400,
	INVALID_PARAMETER: 400,
	DUPLICATE_METADATA_FIELD: 400,
	NO_AUTHENTICATION: 401,
	AUTHENTICATION_ERROR: 403,
	AUTHORISATION_ERROR: 403,
	HTTP_SIGNATURE_ERROR: 403,
	DEPOSITS_NOT_ALLOWED: 403,
	REFUNDS_NOT_ALLOWED: 403,
	UNKNOWN_ERROR: 500
};

interface RefundEntry {
	refund: SimulatedRefund;
	payment: SimulatedPayment;
	request: Body;
	script: Script;
	reads: number;
}

export function pawapay(): Protocol {
	const portal = { ...PORTAL };
	const keys = makeKeys();
	const refunds = new Map<string, RefundEntry>();

	async function handle(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer | null> {
		const { method, path } = request;
		if (method === 'GET' && /^(\/v2)?\/public-key\/http$/.test(path)) return ok(keys.published);
		const refusal = await authRefusal(request, desk.books);
		const [, id = ''] = /\/([^/]+)$/.exec(path) ?? [];
		const route = `${method} ${path.replace(/(?<=(deposits|refunds|resend-callback)\/)(?!resend-)[^/]+$/, '{id}')}`;
		const actions: Readonly<Record<string, () => SimulatorAnswer | Promise<SimulatorAnswer>>> = {
			'POST /v2/deposits': () => deposit(request, desk),
			'GET /v2/deposits/{id}': () => readDeposit(id, desk),
			'GET /deposits/{id}': () => readDepositV1(id, desk),
			'POST /v2/deposits/resend-callback/{id}': () => resendDeposit(id, desk),
			'POST /v2/refunds': () => refund(request, desk),
			'GET /v2/refunds/{id}': () => readRefund(id, desk),
			'POST /v2/refunds/resend-callback/{id}': () => resendRefund(id, desk),
			'POST /v2/predict-provider': () => predictProvider(request),
			'GET /v2/active-conf': () => ok(activeConfiguration(request.query)),
			'GET /v2/availability': () => ok(availability(request.query))
		};
		const action = Object.hasOwn(actions, route) ? actions[route] : undefined;
		if (!action) return null;
		return refusal ? refuse(refusal.code, refusal.message) : action();
	}

	async function authRefusal(request: SimulatorRequest, books: Books): Promise<Refusal | null> {
		const { authorization } = request.headers;
		if (authorization === undefined) {
			return { code: 'NO_AUTHENTICATION', message: 'The request does not contain an API token.' };
		}
		if (authorization !== `Bearer ${portal.api_token}`) {
			return { code: 'AUTHENTICATION_ERROR', message: 'The API token is not valid.' };
		}
		const isFinancial = request.method === 'POST' && /^\/v2\/(deposits|refunds)$/.test(request.path);
		if (!isFinancial || portal.signed_requests !== 'on') return null;
		const merchant = { id: portal.merchant_key_id, pem: portal.merchant_key };
		const isSigned = merchant.pem !== '' && (await isSignedBy(request, merchant, books.now()));
		return isSigned
			? null
			: { code: 'HTTP_SIGNATURE_ERROR', message: 'The signature is missing or not valid.' };
	}

	// Deposits

	async function deposit(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer> {
		const body = readBody(request.body, request.headers['content-type']);
		if (isRefusal(body)) return refuse(body.code, body.message);
		const wrong = depositRefusal(body);
		if (wrong) return reject(wrong, body, 'depositId');
		const reference = String(body['depositId']).toLowerCase();
		const known = desk.books.byReference(reference);
		if (known) {
			return ok({
				depositId: known.request['depositId'],
				status: 'DUPLICATE_IGNORED',
				created: iso(known.queuedAt)
			});
		}
		const rejected = businessRefusal(body);
		if (rejected) return reject(rejected, body, 'depositId');

		const phone = accountOf(body).phoneNumber;
		const script = desk.books.scriptFor(phone, reference);
		return desk.submit(script, {
			queue: () =>
				desk.books.add({
					reference,
					operatorReference: reference,
					phone,
					amount: Number(body['amount']),
					currency: String(body['currency']),
					callbackUrl: portal.callback_url || null,
					request: body,
					script
				}),
			answer: ({ queuedAt }) =>
				ok({
					depositId: body['depositId'],
					status: 'ACCEPTED',
					nextStep: 'FINAL_STATUS',
					created: iso(queuedAt)
				}),
			refuse: (code) => reject({ code, message: `Simulated ${code}` }, body, 'depositId'),
			rateLimited: () => ({ status: 429, body: { message: 'Too many requests' } }),
			serverError
		});
	}

	function businessRefusal(body: Body): Refusal | null {
		const { provider, phoneNumber } = accountOf(body);
		const network = NETWORKS.find((candidate) => candidate.provider === provider);
		if (!network) return { code: 'INVALID_PROVIDER', message: `The provider '${provider}' is not known.` };
		if (portal.deposits !== 'on') {
			return { code: 'DEPOSITS_NOT_ALLOWED', message: `Deposits are not enabled for '${provider}'.` };
		}
		const wallet = network.wallets.find(({ currency }) => currency === body['currency']);
		if (!wallet) return { code: 'INVALID_CURRENCY', message: `'${provider}' does not take this currency.` };
		if (!/^[1-9]\d+$/.test(phoneNumber) || !isNumberOf(network.country, phoneNumber)) {
			return { code: 'INVALID_PHONE_NUMBER', message: `The number is not valid for '${provider}'.` };
		}
		const amount = amountRefusal(String(body['amount']), wallet);
		if (amount) return amount;
		if (network.authType === 'PREAUTH' && body['preAuthorisationCode'] === undefined) {
			return { code: 'MISSING_PARAMETER', message: "Please specify the parameter 'preAuthorisationCode'." };
		}
		if (isClosed(provider)) {
			const message = `The provider '${provider}' is currently not able to process payments.`;
			return { code: 'PROVIDER_TEMPORARILY_UNAVAILABLE', message };
		}
		return null;
	}

	const isClosed = (provider: string) => portal.closed.split(',').includes(provider);

	function readDeposit(id: string, desk: Desk): SimulatorAnswer {
		if (!isUuid(id)) return refuse('INVALID_PARAMETER', "The parameter 'depositId' is not valid.");
		const payment = desk.books.byReference(id.toLowerCase());
		const fault = payment ? desk.read(payment) : 'not_found';
		if (fault === 'server_error') return serverError();
		if (!payment || fault === 'not_found') return ok({ status: 'NOT_FOUND' });
		return ok({ status: 'FOUND', data: depositData(payment, desk.books, readOutcome(payment, desk.books)) });
	}

	/** What a status read says: a contradiction is the script's. */
	const readOutcome = (payment: SimulatedPayment, books: Books) => {
		const outcome = books.outcomeOf(payment);
		return outcome === 'success' && payment.script.contradicts ? 'UNSPECIFIED_FAILURE' : outcome;
	};

	/** The first version of the API: a list of none or one. */
	function readDepositV1(id: string, desk: Desk): SimulatorAnswer {
		const payment = desk.books.byReference(id.toLowerCase());
		const fault = payment ? desk.read(payment) : 'not_found';
		if (fault === 'server_error') return serverError();
		if (!payment || fault === 'not_found') return ok([]);
		const data = depositData(payment, desk.books, readOutcome(payment, desk.books), true);
		const account = accountOf(payment.request);
		return ok([
			{
				depositId: data['depositId'],
				status: data['status'],
				requestedAmount: String(payment.request['amount']),
				...(data['status'] === 'COMPLETED' ? { depositedAmount: data['amount'] } : {}),
				currency: data['currency'],
				country: data['country'],
				correspondent: account.provider,
				payer: { type: 'MSISDN', address: { value: account.phoneNumber } },
				created: data['created']
			}
		]);
	}

	function depositData(payment: SimulatedPayment, books: Books, outcome: string, isV1 = false): Body {
		const { request, currency, queuedAt } = payment;
		const account = accountOf(request);
		const usesSubmitted = isV1 || payment.script.otherForm;
		const taken = outcome === 'success' ? payment.amount * payment.script.amountFactor : payment.amount;
		const amount =
			walletOf(account.provider, currency).decimals === 'NONE' ? String(taken) : taken.toFixed(2);
		return {
			depositId: request['depositId'],
			...stateOf(outcome, payment.reads <= 1 ? 'ACCEPTED' : usesSubmitted ? 'SUBMITTED' : 'PROCESSING'),
			amount,
			currency,
			country: account.provider.slice(-3),
			payer: request['payer'],
			...optional('customerMessage', request['customerMessage']),
			...optional('clientReferenceId', request['clientReferenceId']),
			created: iso(queuedAt),
			...(outcome === 'success' ? { providerTransactionId: transactionId(payment.number) } : {}),
			...optional('metadata', metadataOf(request['metadata']))
		};
	}

	// Refunds

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
		return desk.faults(script, {
			act: () => {
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
		if (isClosed(provider)) {
			return { code: 'PROVIDER_TEMPORARILY_UNAVAILABLE', message: `'${provider}' is not available.` };
		}
		return null;
	}

	/** What has not been sent back. */
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
				: {}),
			...optional('metadata', metadataOf(request['metadata']))
		};
	}

	// Callbacks

	async function callback(
		payment: SimulatedPayment,
		outcome: string,
		{ alter }: CallbackScript,
		books: Books
	): Promise<OutgoingCallback | null> {
		const url = portal.callback_url || payment.callbackUrl;
		if (!url || !isFinal(outcome)) return null;
		const body = depositData(payment, books, outcome);
		delete body['clientReferenceId'];
		if (alter === 'wrong_amount') body['amount'] = String(payment.amount * 10);
		if (alter === 'wrong_id') body['depositId'] = randomUUID();
		const key = alter === 'forged_success' || alter === 'bad_signature' ? keys.forged : keys.key;
		const form = payment.script.otherForm ? 'raw' : 'der';
		return outgoing(url, body, books.now(), alter === 'no_signature' ? null : { key, form });
	}

	async function refundCallback(entry: RefundEntry, books: Books): Promise<OutgoingCallback | null> {
		const url = portal.refund_callback_url || portal.callback_url;
		if (!url || !isFinal(books.refundOutcome(entry.refund))) return null;
		return outgoing(url, refundData(entry, books), books.now(), { key: keys.key, form: 'der' });
	}

	async function outgoing(
		url: string,
		data: Body,
		now: number,
		signature: { key: typeof keys.key; form: 'der' | 'raw' } | null
	): Promise<OutgoingCallback> {
		const body = JSON.stringify(data);
		const headers = { 'Content-Type': 'application/json; charset=UTF-8' };
		const isSigned = signature !== null && portal.signed_callbacks === 'on';
		const all = isSigned
			? await signCallback({ url, body, headers, id: keys.id, now, ...signature })
			: headers;
		return { url, method: 'POST', headers: all, body };
	}

	function resendDeposit(id: string, desk: Desk): SimulatorAnswer {
		const payment = desk.books.byReference(id.toLowerCase());
		const outcome = payment ? desk.books.outcomeOf(payment) : 'pending';
		const make = () => (payment ? callback(payment, outcome, ONCE, desk.books) : null);
		return resend('depositId', id, payment !== undefined, isFinal(outcome), () => desk.later(0, make));
	}

	function resendRefund(id: string, desk: Desk): SimulatorAnswer {
		const entry = refunds.get(id.toLowerCase());
		const outcome = entry ? desk.books.refundOutcome(entry.refund) : 'pending';
		const make = () => (entry ? refundCallback(entry, desk.books) : null);
		return resend('refundId', id, entry !== undefined, isFinal(outcome), () => desk.later(0, make));
	}

	// Toolkit

	function predictProvider(request: SimulatorRequest): SimulatorAnswer {
		const body = readBody(request.body, request.headers['content-type']);
		if (isRefusal(body)) return refuse(body.code, body.message);
		const given = body['phoneNumber'];
		if (given === undefined) {
			return refuse('MISSING_PARAMETER', "Please specify the parameter 'phoneNumber'.");
		}
		const phoneNumber = String(given).replace(/\D/g, '').replace(/^0+/, '');
		const network = predict(phoneNumber);
		if (!network) return refuse('INVALID_PARAMETER', 'The number is not of a supported country.');
		return ok({ country: network.country.code, provider: network.provider, phoneNumber });
	}

	function activeConfiguration(query: URLSearchParams): Body {
		return {
			companyName: 'Airtill Simulated Ltd',
			signatureConfiguration: {
				signedRequestsOnly: portal.signed_requests === 'on',
				signedCallbacks: portal.signed_callbacks === 'on'
			},
			countries: byCountry(query, ([first, ...others]) => ({
				country: first.country.code,
				displayName: { en: first.country.name, fr: first.country.name },
				prefix: first.country.prefix,
				providers: [first, ...others].map((one) => ({
					provider: one.provider,
					displayName: one.name,
					nameDisplayedToCustomer: 'Airtill',
					currencies: one.wallets.map((wallet) => ({
						currency: wallet.currency,
						displayName: wallet.currency,
						operationTypes: operations(query, one, wallet)
					}))
				}))
			}))
		};
	}

	function operations(query: URLSearchParams, one: Network, wallet: Wallet): unknown {
		const wanted = query.get('operationType');
		const shared = {
			minAmount: String(wallet.min),
			maxAmount: String(wallet.max),
			decimalsInAmount: wallet.decimals,
			status: isClosed(one.provider) ? 'CLOSED' : 'OPERATIONAL'
		};
		const address = (url: string) => optional('callbackUrl', url || undefined);
		const prompt = { authType: one.authType, pinPrompt: 'AUTOMATIC', pinPromptRevivable: false };
		const all = Object.entries({
			DEPOSIT: portal.deposits === 'on' && { ...prompt, ...shared, ...address(portal.callback_url) },
			REFUND: portal.refunds === 'on' && { ...shared, ...address(portal.refund_callback_url) }
		}).filter(([name, value]) => value !== false && (wanted === null || wanted === name));
		return portal.operation_types === 'list'
			? all.map(([name, value]) => ({ [name]: value }))
			: Object.fromEntries(all);
	}

	const availability = (query: URLSearchParams) =>
		byCountry(query, (networks) => ({
			country: networks[0].country.code,
			providers: networks.map(({ provider }) => ({
				provider,
				operationTypes: ['DEPOSIT', 'REFUND'].map((operationType) => ({
					operationType,
					status: isClosed(provider) ? 'CLOSED' : 'OPERATIONAL'
				}))
			}))
		}));

	return {
		name: 'pawapay',
		credentials: { api_token: TOKEN },
		callbackRetriesMs: RETRIES,
		defaults: testNumber,
		environment(url) {
			const settings = SETTINGS[portal.country];
			return {
				PAWAPAY_BASE_URL: url,
				PAWAPAY_API_TOKEN: portal.api_token,
				PAWAPAY_PROVIDERS: settings?.providers ?? '',
				PAWAPAY_VERIFY_CALLBACKS: portal.signed_callbacks,
				CURRENCY: settings?.currency ?? '',
				DEFAULT_REGION: settings?.region ?? ''
			};
		},
		handle,
		notFound: ({ path }) => ({ status: 404, body: { status: 404, error: 'Not Found', path } }),
		down: serverError,
		callback,
		// Tokens of pawaPay are made in its dashboard and do not expire; `api_token` of the portal replaces it.
		expireTokens: () => {},
		portal(settings) {
			for (const [name, value] of Object.entries(settings)) {
				if (!Object.hasOwn(portal, name)) throw new Error(`The dashboard has no ${name}`);
				if (name === 'country' && !SETTINGS[value]) throw new Error(`No settings for ${value}`);
				portal[name as keyof typeof portal] = value;
			}
		}
	};
}

const ONCE: CallbackScript = { when: 'at_outcome', afterMs: 0, times: 1 };

const ok = (body: unknown): SimulatorAnswer => ({ status: 200, body });
const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
const transactionId = (number: number) => String(12_000_000 + number);
const isFinal = (outcome: string) => outcome !== 'pending' && !STATES.includes(outcome);
const optional = (name: string, value: unknown): Body => (value === undefined ? {} : { [name]: value });

const reason = (code: string, message: string) => ({
	failureReason: { failureCode: code, failureMessage: message }
});

const refuse = (code: string, message: string): SimulatorAnswer => ({
	status: STATUSES[code] ?? 200,
	body: reason(code, message)
});

const serverError = (): SimulatorAnswer =>
	refuse('UNKNOWN_ERROR', 'Unable to process the request due to an unknown problem.');

/** A request that was read and not taken. */
function reject({ code, message }: Refusal, body: Body, id: 'depositId' | 'refundId'): SimulatorAnswer {
	const status = STATUSES[code] ?? 200;
	if (status >= 401) return refuse(code, message);
	return { status, body: { ...optional(id, body[id]), status: 'REJECTED', ...reason(code, message) } };
}

function resend(
	name: 'depositId' | 'refundId',
	id: string,
	isKnown: boolean,
	isFinished: boolean,
	send: () => void
): SimulatorAnswer {
	const rejected = (code: string, message: string) =>
		ok({ [name]: id, status: 'REJECTED', ...reason(code, message) });
	if (!isKnown) return rejected('NOT_FOUND', `${id} not found`);
	if (!isFinished) return rejected('INVALID_STATE', `${id} has not finished processing`);
	send();
	return ok({ [name]: id, status: 'ACCEPTED' });
}

/** @param waiting the state while there is no outcome */
function stateOf(outcome: string, waiting: string): Body {
	if (outcome === 'success') return { status: 'COMPLETED' };
	if (outcome === 'pending') return { status: waiting };
	if (STATES.includes(outcome)) return { status: outcome };
	return { status: 'FAILED', ...reason(outcome, `Simulated ${outcome}`) };
}

function accountOf(body: Body): { phoneNumber: string; provider: string } {
	const details = ((body['payer'] ?? {}) as Body)['accountDetails'] as Body;
	return { phoneNumber: String(details['phoneNumber']), provider: String(details['provider']) };
}

function walletOf(provider: string, currency: string): Wallet {
	const network = NETWORKS.find((candidate) => candidate.provider === provider);
	const wallet = network?.wallets.find((candidate) => candidate.currency === currency);
	if (!wallet) throw new Error(`${provider} has no wallet in ${currency}`);
	return wallet;
}

function amountRefusal(amount: string, { decimals, min, max }: Wallet): Refusal | null {
	if (decimals === 'NONE' && amount.includes('.')) {
		return { code: 'INVALID_AMOUNT', message: 'The provider does not support decimals in amounts.' };
	}
	const value = Number(amount);
	if (value <= 0 || value < min || value > max) {
		return { code: 'AMOUNT_OUT_OF_BOUNDS', message: `The amount should be between ${min} and ${max}.` };
	}
	return null;
}

function byCountry<T>(query: URLSearchParams, make: (networks: [Network, ...Network[]]) => T): T[] {
	const codes = [...new Set(NETWORKS.map(({ country }) => country.code))];
	return codes.flatMap((code) => {
		const [first, ...others] = NETWORKS.filter(({ country }) => country.code === code);
		const isWanted = query.get('country') === null || query.get('country') === code;
		return first && isWanted ? [make([first, ...others])] : [];
	});
}
