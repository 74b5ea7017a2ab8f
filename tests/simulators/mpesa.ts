import { randomBytes } from 'node:crypto';
import type { Books, SimulatedPayment } from './books.ts';
import {
	type Desk,
	type Protocol,
	type ProtocolOptions,
	type SimulatorAnswer,
	type SimulatorRequest,
	checkOptions,
	objectIn
} from './simulator.ts';
import {
	LOCKED,
	callback,
	checkoutRequestId,
	createSecurityCredential,
	error,
	errorFor,
	field,
	invalid,
	isUrl,
	receipt,
	resultText
} from './mpesa-rules.ts';
import { createReversals } from './mpesa-reversal.ts';
import type { Script } from './script.ts';

/**
 * Safaricom Daraja as its clients see it: token, M-Pesa Express (STK push) with query and callback, Reversals,
 * Transaction Status and Pull Transactions. From section 2 of the protocol reference, without knowledge of a client.
 */

const SHORTCODE = '174379';
const TILL = '5174379';
const CREDENTIALS = {
	consumer_key: 'simulated-consumer-key',
	consumer_secret: 'simulated-consumer-secret',
	shortcode: SHORTCODE,
	till: TILL,
	passkey: 'simulated-passkey-of-174379',
	initiator: 'simulatedapi',
	initiator_password: 'simulated-initiator-password'
} as const;

const TOKEN_MS = 3_599_000;
/** A prompt stays on the phone, and its owner is locked, for this long. */
const PROMPT_MS = 60_000;
const REPEAT_MS = 120_000;
const MAX_SHILLINGS = 250_000;
/** Documented are 13, but Safaricom's own client sends 20; a prompt has 182. */
const MAX_DESCRIPTION = 182;
/** @param options `expires-in: number` writes the token's life as a number, as the operator's page shows it */
export function mpesa(options: ProtocolOptions = {}): Protocol {
	checkOptions(options, ['expires-in']);
	const securityCredential = createSecurityCredential();
	const parties = [SHORTCODE, TILL];
	const reversals = createReversals(
		(name, sealed) =>
			name === CREDENTIALS.initiator && securityCredential.decrypt(sealed) === CREDENTIALS.initiator_password,
		parties
	);
	const pull = createPull(parties);
	/** Each new token ends the one before. */
	let token: { value: string; until: number } | null = null;

	function generate({ method, query, headers }: SimulatorRequest, books: Books): SimulatorAnswer {
		if (method !== 'GET') return errorFor('405.001');
		if (query.get('grant_type') !== 'client_credentials') {
			return error(400, '400.008.02', 'Invalid grant type passed');
		}
		const pair = `${CREDENTIALS.consumer_key}:${CREDENTIALS.consumer_secret}`;
		if (headers.authorization !== `Basic ${Buffer.from(pair).toString('base64')}`) {
			return error(400, '400.008.01', 'Invalid Authentication passed');
		}
		token = { value: randomBytes(21).toString('base64url'), until: books.now() + TOKEN_MS };
		const seconds = TOKEN_MS / 1000;
		return {
			status: 200,
			body: {
				access_token: token.value,
				expires_in: options['expires-in'] === 'number' ? seconds : String(seconds)
			}
		};
	}

	/** Shortcode, password and timestamp, which pushes and queries share. */
	function wrongPassword(body: Record<string, unknown>): SimulatorAnswer | null {
		const shortCode = field(body, 'BusinessShortCode') ?? '';
		if (!/^\d{5,7}$/.test(shortCode)) return invalid('BusinessShortCode');
		const time = field(body, 'Timestamp') ?? '';
		if (!isTimestamp(time)) return invalid('Timestamp');
		if (!field(body, 'Password')) return invalid('Password');
		if (shortCode !== SHORTCODE) return error(500, '500.001.1001', 'Merchant does not exist');
		const password = Buffer.from(shortCode + CREDENTIALS.passkey + time).toString('base64');
		return body['Password'] === password ? null : error(500, '500.001.1001', 'Wrong credentials');
	}

	function wrongPush(body: Record<string, unknown>): SimulatorAnswer | null {
		const type = field(body, 'TransactionType') ?? '';
		if (!['CustomerPayBillOnline', 'CustomerBuyGoodsOnline'].includes(type))
			return invalid('TransactionType');
		const amount = field(body, 'Amount') ?? '';
		if (!/^[1-9]\d{0,5}$/.test(amount) || Number(amount) > MAX_SHILLINGS) return invalid('Amount');
		for (const name of ['PartyA', 'PhoneNumber']) {
			if (!/^254[17]\d{8}$/.test(field(body, name) ?? '')) return invalid(name);
		}
		if (!/^\d{5,7}$/.test(field(body, 'PartyB') ?? '')) return invalid('PartyB');
		if (!isUrl(field(body, 'CallBackURL'))) return invalid('CallBackURL');
		if (!isShortText(body['AccountReference'], 12)) return invalid('AccountReference');
		return isShortText(body['TransactionDesc'], MAX_DESCRIPTION) ? null : invalid('TransactionDesc');
	}

	function push(
		body: Record<string, unknown>,
		{ books, submit }: Desk
	): SimulatorAnswer | Promise<SimulatorAnswer> {
		const wrong = wrongPassword(body) ?? wrongPush(body);
		if (wrong) return wrong;
		const phone = field(body, 'PhoneNumber') ?? '';
		const amount = Number(field(body, 'Amount'));
		const partyB = field(body, 'PartyB') ?? '';
		const reference = field(body, 'AccountReference') ?? '';
		const isTill = body['TransactionType'] === 'CustomerBuyGoodsOnline';
		const asked = books.scriptFor(phone, reference);
		const earlier = books.payments.filter((payment) => payment.phone === phone);
		if (asked.guards && earlier.some((payment) => isPrompting(payment, books))) {
			return error(500, '500.001.1001', LOCKED);
		}
		const isRepeated = earlier.some((payment) => payment.amount === amount && wasPaidJustNow(payment, books));
		const forced = partyB !== (isTill ? TILL : SHORTCODE) ? '2028' : asked.guards && isRepeated ? '17' : null;
		const script: Script = forced === null ? asked : { ...asked, outcome: forced };
		return submit(script, {
			queue() {
				const number = books.payments.length + 1;
				return books.add({
					reference,
					operatorReference: checkoutRequestId(books.now(), number, phone),
					phone,
					amount,
					currency: 'KES',
					callbackUrl: field(body, 'CallBackURL'),
					request: {
						MerchantRequestID: `29115-${34_620_560 + number}-1`,
						TransactionDesc: body['TransactionDesc'],
						PartyB: partyB,
						isTill
					},
					script
				});
			},
			answer: (payment) => ({
				status: 200,
				body: {
					MerchantRequestID: payment.request['MerchantRequestID'],
					CheckoutRequestID: payment.operatorReference,
					ResponseCode: '0',
					ResponseDescription: 'Success. Request accepted for processing',
					CustomerMessage: 'Success. Request accepted for processing'
				}
			}),
			refuse: errorFor,
			rateLimited: () => errorFor('500.003.02'),
			serverError: () => errorFor('500.003.1001')
		});
	}

	function query(body: Record<string, unknown>, { books, read }: Desk): SimulatorAnswer {
		const wrong = wrongPassword(body);
		if (wrong) return wrong;
		const payment = books.byOperatorReference(field(body, 'CheckoutRequestID') ?? '');
		if (!payment) return invalid('CheckoutRequestID');
		const fault = read(payment);
		if (fault !== null) {
			return fault === 'not_found' ? invalid('CheckoutRequestID') : errorFor('500.003.1001');
		}
		const outcome = books.outcomeOf(payment);
		const result = (code: string, text: string) => ({
			status: 200,
			body: {
				ResponseCode: '0',
				ResponseDescription: 'The service request has been accepted successfully',
				MerchantRequestID: payment.request['MerchantRequestID'],
				CheckoutRequestID: payment.operatorReference,
				ResultCode: code,
				ResultDesc: text
			}
		});
		if (outcome === 'pending') {
			if (payment.script.otherForm) return result('4999', 'The transaction is still under processing');
			return {
				status: 500,
				body: {
					requestId: payment.operatorReference,
					errorCode: '500.001.1001',
					errorMessage: 'The transaction is being processed'
				}
			};
		}
		const said = payment.script.contradicts ? '1032' : outcome === 'success' ? '0' : outcome;
		return result(said, resultText(said));
	}

	async function authorised(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer | null> {
		const { method, path, headers } = request;
		const isPull = path === '/pulltransactions/v1/query';
		if (!PATHS.includes(path)) return null;
		// The operator's page says GET for this one, its clients send POST.
		if (method !== 'POST' && !(isPull && method === 'GET')) return errorFor('405.001');
		const { value = '', until = 0 } = token ?? {};
		if (headers.authorization !== `Bearer ${value}` || until <= desk.books.now()) {
			return errorFor('404.001.03');
		}
		if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return invalid('Content-Type');
		const body = objectIn(request.body);
		if (!body) return invalid('JSON');
		switch (path) {
			case '/mpesa/stkpush/v1/processrequest':
				return push(body, desk);
			case '/mpesa/stkpushquery/v1/query':
				return query(body, desk);
			case '/mpesa/reversal/v1/request':
				return reversals.request(body, desk);
			case '/mpesa/transactionstatus/v1/query':
				return reversals.status(body, desk);
			default:
				return pull(body, desk.books);
		}
	}

	return {
		name: 'mpesa',
		get credentials() {
			return {
				...CREDENTIALS,
				security_credential: securityCredential.encrypt(CREDENTIALS.initiator_password),
				public_key: securityCredential.publicKey
			};
		},
		// The sandbox has no numbers that choose an outcome.
		defaults: () => ({}),
		environment: (url) => ({
			CURRENCY: 'KES',
			DEFAULT_REGION: 'KE',
			MPESA_BASE_URL: url,
			MPESA_CONSUMER_KEY: CREDENTIALS.consumer_key,
			MPESA_CONSUMER_SECRET: CREDENTIALS.consumer_secret,
			MPESA_SHORTCODE: SHORTCODE,
			MPESA_PASSKEY: CREDENTIALS.passkey,
			MPESA_INITIATOR: CREDENTIALS.initiator,
			MPESA_SECURITY_CREDENTIAL: securityCredential.encrypt(CREDENTIALS.initiator_password)
		}),
		handle: async (request, desk) =>
			request.path === '/oauth/v1/generate' ? generate(request, desk.books) : authorised(request, desk),
		notFound: () => errorFor('404.001.01'),
		down: () => error(503, '500.003.02', 'System is busy. Please try again in few minutes.'),
		callback,
		expireTokens() {
			token = null;
		}
	};
}

const PATHS: readonly string[] = [
	...['/mpesa/stkpush/v1/processrequest', '/mpesa/stkpushquery/v1/query', '/mpesa/reversal/v1/request'],
	...['/mpesa/transactionstatus/v1/query', '/pulltransactions/v1/query']
];

const isPrompting = (payment: SimulatedPayment, books: Books): boolean =>
	books.outcomeOf(payment) === 'pending' && books.now() < payment.queuedAt + PROMPT_MS;

const wasPaidJustNow = (payment: SimulatedPayment, books: Books): boolean =>
	books.outcomeOf(payment) === 'success' && books.now() < (books.outcomeAt(payment) ?? 0) + REPEAT_MS;

/** Format only: clients that send UTC instead of Nairobi's time exist, and are served. */
const isTimestamp = (text: string): boolean =>
	/^20\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d$/.test(text);

const isShortText = (value: unknown, length: number): boolean => {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && /^[ -~]+$/.test(text) && text.length <= length;
};

/** Pull Transactions: the settled payments of the last 48 hours. */

const KEPT_MS = 48 * 60 * 60 * 1000;
const PAGE = 100;

function createPull(parties: readonly string[]) {
	let count = 0;
	return (body: Record<string, unknown>, books: Books): SimulatorAnswer => {
		const shortCode = field(body, 'ShortCode') ?? '';
		if (!parties.includes(shortCode)) return invalid('ShortCode');
		const from = timeOf(field(body, 'StartDate'));
		const to = timeOf(field(body, 'EndDate'));
		if (from === null) return invalid('StartDate');
		if (to === null || to < from) return invalid('EndDate');
		const offset = Number(field(body, 'OffSetValue'));
		if (!Number.isInteger(offset) || offset < 0) return invalid('OffSetValue');
		const rows = books.payments
			.filter((payment) => books.outcomeOf(payment) === 'success')
			.filter((payment) => payment.request['PartyB'] === shortCode)
			.map((payment) => ({ payment, at: books.outcomeAt(payment) ?? 0 }))
			.filter(({ at }) => at >= Math.max(from, books.now() - KEPT_MS) && at <= to)
			.slice(offset, offset + PAGE)
			.map(({ payment, at }) => ({
				transactionId: receipt('payment', payment.number),
				trxDate: new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'),
				msisdn: Number(payment.phone),
				sender: 'MPESA',
				transactiontype: 'c2b-pay-bill-debit',
				// A till has no account numbers.
				billreference: payment.request['isTill'] === true ? '' : payment.reference,
				amount: books.takenOf(payment).toFixed(2),
				organizationname: 'Simulated Shop'
			}));
		return {
			status: 200,
			body: {
				ResponseRefID: `${18_000 + (count += 1)}-7271215-1`,
				ResponseCode: rows.length > 0 ? '1000' : '1001',
				ResponseMessage: rows.length > 0 ? 'Success' : 'No transactions found',
				Response: rows.length > 0 ? [rows] : []
			}
		};
	};
}

/** `YYYY-MM-DD HH:mm:ss` in Nairobi, hours with one digit or two. */
function timeOf(text: string | null): number | null {
	const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text ?? '');
	if (!match) return null;
	const [, day = '', hour = '', minute = '', second = '00'] = match;
	const at = Date.parse(`${day}T${hour.padStart(2, '0')}:${minute}:${second}+03:00`);
	return Number.isNaN(at) ? null : at;
}
