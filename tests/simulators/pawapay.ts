import { randomUUID } from 'node:crypto';
import type { Books, SimulatedPayment } from './books.ts';
import type { Desk, OutgoingCallback, Protocol, SimulatorAnswer, SimulatorRequest } from './simulator.ts';
import {
	type Body,
	NETWORKS,
	type Network,
	PORTAL,
	type Portal,
	type Refusal,
	PROVIDERS,
	type Wallet,
	accountOf,
	amountRefusal,
	depositData,
	depositRefusal,
	isClosed,
	isFinal,
	isNumberOf,
	isRefusal,
	isUuid,
	iso,
	ok,
	optional,
	predict,
	payoutRefusal,
	readBody,
	refuse,
	reject,
	serverError,
	stateOf,
	testNumber,
	transactionId
} from './pawapay-rules.ts';
import { createRefunds } from './pawapay-refunds.ts';
import { isSignedBy, makeKeys, signCallback } from './pawapay-signing.ts';
import type { CallbackScript } from './script.ts';

/**
 * A simulated pawaPay, version 2 of its Merchant API (reference section 5; docs.pawapay.io/v2). Its dashboard
 * (`--portal name=value`, POST /_simulator/portal) holds the callback addresses, the switches for signatures and the
 * merchant's public key.
 */

const isFinancial = ({ method, path }: SimulatorRequest) =>
	method === 'POST' && /^\/v2\/(deposits|refunds|payouts)$/.test(path);

const MINUTE = 60_000;
/** Until 15 minutes have passed. */
const RETRIES = [10_000, 20_000, 30_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 6 * MINUTE];

export function pawapay(): Protocol {
	const portal = { ...PORTAL };
	const keys = makeKeys();
	const toolkit = createToolkit(portal);
	const refunds = createRefunds(portal, (url, data, now) =>
		outgoing(url, data, now, { key: keys.key, form: 'der' })
	);

	async function handle(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer | null> {
		const { method, path } = request;
		if (method === 'GET' && /^(\/v2)?\/public-key\/http$/.test(path)) return ok(keys.published);
		const refusal = await authRefusal(request, desk.books);
		const [, id = ''] = /\/([^/]+)$/.exec(path) ?? [];
		const route = `${method} ${path.replace(/(?<=(deposits|refunds|payouts)\/)[^/]+$/, '{id}')}`;
		const actions: Readonly<Record<string, () => SimulatorAnswer | Promise<SimulatorAnswer>>> = {
			'POST /v2/deposits': () => deposit(request, desk),
			'GET /v2/deposits/{id}': () => readDeposit(id, desk),
			'POST /v2/refunds': () => refunds.refund(request, desk),
			'GET /v2/refunds/{id}': () => refunds.readRefund(id, desk),
			'POST /v2/payouts': () => payout(request, desk),
			'GET /v2/payouts/{id}': () => readPayout(id, desk),
			'POST /v2/predict-provider': () => toolkit.predictProvider(request),
			'GET /v2/active-conf': () => ok(toolkit.activeConfiguration(request.query))
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
		if (!isFinancial(request) || portal.signed_requests !== 'on') return null;
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

	async function payout(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer> {
		const body = readBody(request.body, request.headers['content-type']);
		if (isRefusal(body)) return refuse(body.code, body.message);
		const wrong = payoutRefusal(body);
		if (wrong) return reject(wrong, body, 'payoutId');
		const { books } = desk;
		const reference = String(body['payoutId']).toLowerCase();
		const known = books.payoutOf(reference);
		if (known) return ok({ payoutId: reference, status: 'DUPLICATE_IGNORED', created: iso(known.queuedAt) });
		const rejected = businessRefusal(body);
		if (rejected) return reject(rejected, body, 'payoutId');
		const phone = accountOf(body).phoneNumber;
		const script = books.scriptFor(phone, reference);
		return desk.refund(script, {
			queue: () => {
				const [amount, currency] = [Number(body['amount']), String(body['currency'])];
				const sent = { reference, phone, amount, currency, request: body };
				books.payouts.push({ ...sent, queuedAt: books.now(), script, reads: 0 });
				const final = script.outcome !== 'pending';
				if (final && portal.callback_url) {
					const { callback_url: url } = portal;
					desk.later(script.afterMs, () =>
						outgoing(url, payoutData(reference, books), books.now(), { key: keys.key, form: 'der' })
					);
				}
			},
			answer: () => ok({ payoutId: body['payoutId'], status: 'ACCEPTED', created: iso(books.now()) }),
			refuse: (code) => reject({ code, message: `Simulated ${code}` }, body, 'payoutId'),
			rateLimited: () => ({ status: 429, body: { message: 'Too many requests' } }),
			serverError
		});
	}

	function payoutData(reference: string, books: Books): Body {
		const sent = books.payoutOf(reference);
		if (!sent) throw new Error(`There is no payout ${reference}`);
		const outcome = books.payoutOutcome(sent);
		const amount = String(sent.amount * sent.script.amountFactor);
		return {
			...{ payoutId: sent.request['payoutId'], ...stateOf(outcome, 'PROCESSING'), amount },
			...{ currency: sent.currency, recipient: sent.request['recipient'], created: iso(sent.queuedAt) },
			...(outcome === 'success' && {
				providerTransactionId: transactionId(700_000 + books.payouts.indexOf(sent))
			})
		};
	}

	function readPayout(id: string, desk: Desk): SimulatorAnswer {
		if (!isUuid(id)) return refuse('INVALID_PARAMETER', "The parameter 'payoutId' is not valid.");
		const sent = desk.books.payoutOf(id);
		const fault = sent ? desk.read(sent) : 'not_found';
		if (fault === 'server_error') return serverError();
		if (!sent || fault === 'not_found') return ok({ status: 'NOT_FOUND' });
		return ok({ status: 'FOUND', data: payoutData(sent.reference, desk.books) });
	}

	function businessRefusal(body: Body): Refusal | null {
		const { provider, phoneNumber } = accountOf(body);
		const network = NETWORKS.find((candidate) => candidate.provider === provider);
		if (!network) return { code: 'INVALID_PROVIDER', message: `The provider '${provider}' is not known.` };
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
		if (isClosed(portal, provider)) {
			const message = `The provider '${provider}' is currently not able to process payments.`;
			return { code: 'PROVIDER_TEMPORARILY_UNAVAILABLE', message };
		}
		return null;
	}

	function readDeposit(id: string, desk: Desk): SimulatorAnswer {
		if (!isUuid(id)) return refuse('INVALID_PARAMETER', "The parameter 'depositId' is not valid.");
		const payment = desk.books.byReference(id.toLowerCase());
		const fault = payment ? desk.read(payment) : 'not_found';
		if (fault === 'server_error') return serverError();
		if (!payment || fault === 'not_found') return ok({ status: 'NOT_FOUND' });
		return ok({ status: 'FOUND', data: depositData(payment, readOutcome(payment, desk.books)) });
	}

	/** Body of a status read; the script can make it contradict the books. */
	const readOutcome = (payment: SimulatedPayment, books: Books) => {
		const outcome = books.outcomeOf(payment);
		return outcome === 'success' && payment.script.contradicts ? 'UNSPECIFIED_FAILURE' : outcome;
	};

	async function callback(
		payment: SimulatedPayment,
		outcome: string,
		{ alter }: CallbackScript,
		books: Books
	): Promise<OutgoingCallback | null> {
		const url = portal.callback_url || payment.callbackUrl;
		if (!url || !isFinal(outcome)) return null;
		const body = depositData(payment, outcome);
		if (alter === 'wrong_amount') body['amount'] = String(payment.amount * 10);
		if (alter === 'wrong_id') body['depositId'] = randomUUID();
		const key = alter === 'forged_success' || alter === 'bad_signature' ? keys.forged : keys.key;
		const form = payment.script.otherForm ? 'raw' : 'der';
		return outgoing(url, body, books.now(), alter === 'no_signature' ? null : { key, form });
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

	return {
		name: 'pawapay',
		credentials: { api_token: PORTAL.api_token },
		callbackRetriesMs: RETRIES,
		defaults: testNumber,
		environment(url) {
			return {
				PAWAPAY_BASE_URL: url,
				PAWAPAY_API_TOKEN: portal.api_token,
				PAWAPAY_PROVIDERS: PROVIDERS,
				PAWAPAY_VERIFY_CALLBACKS: portal.signed_callbacks,
				CURRENCY: 'UGX',
				DEFAULT_REGION: 'UG'
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
				portal[name as keyof typeof portal] = value;
			}
		}
	};
}

/** The helpers of pawaPay's API: predictions, the account's configuration, which networks work. */

function createToolkit(portal: Portal) {
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
			status: isClosed(portal, one.provider) ? 'CLOSED' : 'OPERATIONAL'
		};
		const address = (url: string) => optional('callbackUrl', url || undefined);
		const prompt = { authType: one.authType, pinPrompt: 'AUTOMATIC', pinPromptRevivable: false };
		const all = Object.entries({
			DEPOSIT: { ...prompt, ...shared, ...address(portal.callback_url) },
			PAYOUT: { ...shared, maxAmount: String(wallet.max * PAYOUT_SHARE), ...address(portal.callback_url) },
			REFUND: portal.refunds === 'on' && { ...shared, ...address(portal.callback_url) }
		}).filter(([name, value]) => value !== false && (wanted === null || wanted === name));
		return portal.operation_types === 'list'
			? all.map(([name, value]) => ({ [name]: value }))
			: Object.fromEntries(all);
	}

	return { predictProvider, activeConfiguration };
}

/** Limits of payouts are other ones. */
const PAYOUT_SHARE = 0.6;

function byCountry<T>(query: URLSearchParams, make: (networks: [Network, ...Network[]]) => T): T[] {
	const codes = [...new Set(NETWORKS.map(({ country }) => country.code))];
	return codes.flatMap((code) => {
		const [first, ...others] = NETWORKS.filter(({ country }) => country.code === code);
		const isWanted = query.get('country') === null || query.get('country') === code;
		return first && isWanted ? [make([first, ...others])] : [];
	});
}
