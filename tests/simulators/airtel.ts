import {
	type Desk,
	type OutgoingCallback,
	type Protocol,
	type SimulatorAnswer,
	type SimulatorRequest,
	objectIn
} from './simulator.ts';
import {
	constants,
	createDecipheriv,
	createHmac,
	generateKeyPairSync,
	privateDecrypt,
	randomBytes
} from 'node:crypto';
import type { Books, SimulatedPayment } from './books.ts';
import { type CallbackScript, ORDINARY } from './script.ts';

/** The merchant's side of Airtel's portal, and what differs from market to market. */
export interface AirtelPortal {
	/** Empty: no callbacks. */
	callback_url: string;
	/** The part of a callback that is hashed; `off` if callback authentication is disabled. */
	callback_authentication: 'off' | 'transaction-bytes' | 'transaction-json' | 'body';
	/** `on`: requests with a body need `x-signature` and `x-key`. */
	message_signing: 'on' | 'off';
	country: string;
	currency: string;
	/** `on`: numbers must come with the leading 0. */
	leading_zero: 'on' | 'off';
	/** `on`: `transaction.id` may only have 25 letters and digits. */
	short_ids: 'on' | 'off';
	/** `text` as documented, or `number`. */
	expires_in: 'text' | 'number';
}

const ORDINARY_PORTAL: AirtelPortal = {
	callback_url: '',
	callback_authentication: 'transaction-json',
	message_signing: 'off',
	country: 'UG',
	currency: 'UGX',
	leading_zero: 'off',
	short_ids: 'off',
	expires_in: 'text'
};

/** Markets: currency, calling code, digits of a number without country code and without 0. */
const MARKETS: Readonly<Record<string, { currencies: readonly string[]; code: string; digits: number }>> = {
	UG: { currencies: ['UGX'], code: '256', digits: 9 },
	KE: { currencies: ['KES'], code: '254', digits: 9 },
	ZM: { currencies: ['ZMW'], code: '260', digits: 9 }
};
const isCurrency = (text: string) =>
	Object.values(MARKETS).some(({ currencies }) => currencies.includes(text));

/** Airtel's words: codes, the forms of an error, and the state of a transaction. */

const MESSAGES: Readonly<Record<string, string>> = {
	DP00800001000: 'The transaction is still processing and is in ambiguous state.',
	DP00800001001: 'Transaction is successful.',
	DP00800001002: 'Incorrect pin has been entered.',
	DP00800001003: 'The User has exceeded their wallet allowed transaction limit.',
	DP00800001004: 'The amount User is trying to transfer is less than the minimum amount allowed.',
	DP00800001005: "User didn't enter the pin.",
	DP00800001006: 'Transaction in pending state. Please check after sometime.',
	DP00800001007: 'User wallet does not have enough money to cover the payable amount.',
	DP00800001008: 'The transaction was refused.',
	DP00800001009: 'This is a generic refusal that has several possible causes.',
	DP00800001024: 'The transaction was timed out.',
	DP00800001025: 'The transaction was not found.',
	DP00800001026: 'X-signature and payload did not match.',
	DP00800001029: 'Transaction has been expired.',
	ESB000001: 'Something went wrong.',
	ESB000004: 'An error occurred while initiating the payment.',
	ESB000008: 'Field validation.',
	ESB000011: 'Failed.',
	ESB000014: 'An error occurred while fetching the transaction status.',
	ESB000033: 'Invalid MSISDN Length.',
	ESB000034: 'Invalid Country Name.',
	ESB000035: 'Invalid Currency Code.',
	ESB000036: 'Invalid MSISDN Length. MSISDN should start with 0.',
	ESB000041: 'Transaction with External Transaction ID already exists.',
	ESB000045: 'No Transaction Found With Provided Transaction Id.',
	ROUTER003: 'Mandatory parameters are missing either in the header or body.',
	ROUTER006: 'Invalid country code provided.',
	ROUTER007: 'Not authorized to perform any operations in the provided country.',
	ROUTER112: 'Invalid currency provided.',
	ROUTER117: 'Request timeout.',
	ROUTER119: 'Invalid or missing currency.'
};

/** HTTP status of a code; 400 for what is not listed. */
const HTTP_STATUS: Readonly<Record<string, number>> = {
	ROUTER007: 403,
	ROUTER117: 408,
	ESB000001: 500,
	ESB000004: 500,
	ESB000014: 500,
	DP00800001026: 403
};

const down = (): SimulatorAnswer => ({
	status: 500,
	body: {
		status: { response_code: 'DP00800001005', code: '500', success: false, message: 'Something Went Wrong' }
	}
});

const error = (status: number, code: string, description: string): SimulatorAnswer => ({
	status,
	body: { error_description: description, error: code }
});

/**
 * An error with a code. Gateway codes come in the gateway's own form, the product's in the product's.
 * @param otherForm the other one of both
 */
function coded(code: string, otherForm = false): SimulatorAnswer {
	const message = MESSAGES[code] ?? 'Failed';
	const status = HTTP_STATUS[code] ?? 400;
	if (code.startsWith('ROUTER') !== otherForm) {
		return { status, body: { status_message: message, status_code: code } };
	}
	const named = code.startsWith('DP') ? { response_code: code } : { result_code: code };
	return { status, body: { status: { ...named, code: String(status), success: false, message } } };
}

const fine = (responseCode: string, success: boolean) => ({
	code: '200',
	message: 'SUCCESS',
	result_code: 'ESB000010',
	response_code: responseCode,
	success
});

/** Airtel's word for an outcome. @param otherForm `TA` where an open payment could read `TIP` */
function stateOf(outcome: string, otherForm: boolean): string {
	if (outcome === 'success') return 'TS';
	if (outcome === 'pending') return otherForm ? 'TA' : 'TIP';
	if (outcome === 'TA') return 'TA';
	return outcome === 'TE' || outcome === 'DP00800001029' ? 'TE' : 'TF';
}

function codeOf(state: string, outcome: string): string {
	if (outcome.startsWith('DP')) return outcome;
	if (state === 'TE') return 'DP00800001029';
	if (state === 'TA') return 'DP00800001000';
	return state === 'TF' ? 'DP00800001009' : 'DP00800001006';
}

/** Validates payments as Airtel's gateway and product do. */

const object = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Code of what is wrong with a number; null when it is good. */
function wrongNumber(settings: AirtelPortal, msisdn: string): string | null {
	const digits = MARKETS[settings.country]?.digits ?? 9;
	if (settings.leading_zero === 'on') {
		return /^0\d+$/.test(msisdn) && msisdn.length === digits + 1 ? null : 'ESB000036';
	}
	return /^[1-9]\d*$/.test(msisdn) && msisdn.length === digits ? null : 'ESB000033';
}

/** Code of what is wrong with a payment's body; null when it is good. */
function wrongPayment(settings: AirtelPortal, body: Record<string, unknown>): string | null {
	const subscriber = object(body['subscriber']);
	const transaction = object(body['transaction']);
	const { amount, id } = transaction;
	if (subscriber['msisdn'] === undefined || amount === undefined || id === undefined) return 'ROUTER003';
	if (typeof body['reference'] !== 'string' || body['reference'].trim() === '') return 'ROUTER003';
	if (typeof amount !== 'number' || amount <= 0) return 'ESB000008';
	const pattern = settings.short_ids === 'on' ? /^[A-Za-z0-9]{1,25}$/ : /^[A-Za-z0-9_-]{1,64}$/;
	if (typeof id !== 'string' || !pattern.test(id)) return 'ESB000008';
	for (const part of [subscriber, transaction]) {
		if (![undefined, settings.country].includes(part['country'] as string | undefined)) return 'ESB000034';
		if (![undefined, settings.currency].includes(part['currency'] as string | undefined)) return 'ESB000035';
	}
	const { msisdn } = subscriber;
	if (typeof msisdn !== 'string' && typeof msisdn !== 'number') return 'ESB000008';
	return wrongNumber(settings, String(msisdn));
}

/** @param key of callback authentication */
function callbackOf(
	settings: AirtelPortal,
	key: string,
	payment: SimulatedPayment,
	outcome: string,
	{ alter }: CallbackScript
): OutgoingCallback | null {
	const url = settings.callback_url === '' ? payment.callbackUrl : settings.callback_url;
	if (url === null) return null;
	const state = stateOf(outcome, false);
	const paid = payment.amount * (alter === 'wrong_amount' ? 2 : payment.script.amountFactor);
	const moneyId = alter === 'forged_success' ? 'MP000000.0000.L00000' : payment.operatorReference;
	const transaction = {
		id: alter === 'wrong_id' ? '00000000-0000-4000-8000-000000000000' : payment.reference,
		message:
			state === 'TS'
				? `Paid ${payment.currency} ${paid.toLocaleString('en')} to AIRTILL Charge ${payment.currency} 0, Trans ID ${moneyId}.`
				: MESSAGES[codeOf(state, outcome)],
		// The page knows no TE here.
		status_code: state === 'TE' && !payment.script.otherForm ? 'TF' : state,
		...(state === 'TS' ? { airtel_money_id: moneyId } : {})
	};
	const spaces = payment.script.otherForm ? 1 : 0;
	const open = JSON.stringify({ transaction }, null, spaces);
	const hash = hashOf(
		settings,
		alter === 'bad_signature' || alter === 'forged_success' ? 'not the key' : key,
		transaction,
		open,
		alter
	);
	return {
		url,
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: hash === null ? open : `${open.replace(/\s*\}$/, '')}, "hash":"${hash}"}`
	};
}

function hashOf(
	settings: AirtelPortal,
	key: string,
	transaction: object,
	open: string,
	alter: CallbackScript['alter']
): string | null {
	if (settings.callback_authentication === 'off' || alter === 'no_signature') return null;
	const payload = {
		'transaction-json': JSON.stringify(transaction),
		// The exact bytes of the member in the body.
		'transaction-bytes': open.replace(/^\{\s*"transaction":\s*/, '').replace(/\s*\}$/, ''),
		body: `${open.replace(/\s*\}$/, '')}}`
	}[settings.callback_authentication];
	return createHmac('sha256', key).update(payload).digest('base64');
}

/**
 * Airtel Money's Collection API, after the portals' pages (mobile-money.md section 3): token, USSD push in v1 and v2,
 * enquiry, refund, keys of message signing, user enquiry, callbacks with and without hash. What a merchant sets in
 * Airtel's portal is set with `portal` (see AirtelPortal).
 */

const CLIENT_ID = 'fake-airtel-client-id';
const CLIENT_SECRET = 'fake-airtel-client-secret';
const CALLBACK_KEY = 'fake-airtel-callback-key';
const TOKEN_SECONDS = 180;

export function airtelProtocol(given: Partial<AirtelPortal> = {}): Protocol {
	const settings: AirtelPortal = { ...ORDINARY_PORTAL, ...given };
	/** Until when each token is good. Airtel lets earlier ones live on. */
	const tokens = new Map<string, number>();
	const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
	const refunded = new Set<string>();

	function token({ headers, body }: SimulatorRequest, books: Books): SimulatorAnswer {
		if (!isJson(headers['content-type'])) return error(400, 'invalid_request', 'Wrong content type');
		const asked = objectIn(body) ?? {};
		if (asked['grant_type'] !== 'client_credentials') {
			return error(400, 'unsupported_grant_type', 'Invalid grant_type');
		}
		if (asked['client_id'] !== CLIENT_ID || asked['client_secret'] !== CLIENT_SECRET) {
			return error(400, 'invalid_client', 'Invalid client authentication');
		}
		const value = randomBytes(16).toString('hex');
		tokens.set(value, books.now() + TOKEN_SECONDS * 1000);
		const expiresIn = settings.expires_in === 'text' ? String(TOKEN_SECONDS) : TOKEN_SECONDS;
		return { status: 200, body: { access_token: value, expires_in: expiresIn, token_type: 'bearer' } };
	}

	/** Checks the token of a call. Returns the error response, or null if the token is valid. */
	function refusedHeaders({ headers }: SimulatorRequest, books: Books): SimulatorAnswer | null {
		const value = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
		const until = tokens.get(value);
		if (until === undefined || until <= books.now()) {
			return error(401, 'invalid_token', 'The access token is invalid or has expired');
		}
		const country = headers['x-country'];
		const currency = headers['x-currency'];
		if (country === undefined || country === '') return coded('ROUTER003');
		if (currency === undefined || currency === '') return coded('ROUTER119');
		if (!MARKETS[String(country)]) return coded('ROUTER006');
		if (country !== settings.country) return coded('ROUTER007');
		return isCurrency(String(currency)) && currency === settings.currency ? null : coded('ROUTER112');
	}

	/** A signature that is sent is checked, also where none is needed. */
	function isSigned({ headers, body }: SimulatorRequest): boolean {
		const signature = headers['x-signature'];
		const wrapped = headers['x-key'];
		if (signature === undefined && wrapped === undefined) return settings.message_signing === 'off';
		try {
			const padding = constants.RSA_PKCS1_PADDING;
			const opened = privateDecrypt({ key: privateKey, padding }, Buffer.from(String(wrapped), 'base64'));
			const [key = '', iv = ''] = opened.toString().split(':');
			const decipher = createDecipheriv('aes-256-cbc', Buffer.from(key, 'base64'), Buffer.from(iv, 'base64'));
			const text = Buffer.concat([
				decipher.update(Buffer.from(String(signature), 'base64')),
				decipher.final()
			]);
			return text.toString('utf8') === body;
		} catch {
			return false;
		}
	}

	/** A body that is JSON, signed where it must be. */
	function readBody(request: SimulatorRequest): Record<string, unknown> | SimulatorAnswer {
		if (!isJson(request.headers['content-type'])) return coded('ROUTER003');
		if (!isSigned(request)) return coded('DP00800001026');
		return objectIn(request.body) ?? coded('ROUTER003');
	}

	async function pay(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer> {
		const body = readBody(request);
		if (isAnswer(body)) return body;
		const wrong = wrongPayment(settings, body);
		if (wrong !== null) return coded(wrong);
		const { books } = desk;
		const { amount, id } = object(body['transaction']) as { amount: number; id: string };
		if (books.byReference(id)) return coded('ESB000041');
		const national = String(object(body['subscriber'])['msisdn']).replace(/^0/, '');
		const phone = `${MARKETS[settings.country]?.code ?? ''}${national}`;
		const script = books.scriptFor(phone, id);
		return desk.submit(script, {
			queue: () =>
				books.add({
					reference: id,
					operatorReference: airtelMoneyId(books),
					phone,
					amount,
					currency: settings.currency,
					callbackUrl: settings.callback_url === '' ? null : settings.callback_url,
					request: { reference: body['reference'] },
					script
				}),
			answer: () => ({
				status: 200,
				body: {
					data: { transaction: { id: script.otherForm ? false : id, status: 'SUCCESS' } },
					status: fine('DP00800001006', true)
				}
			}),
			refuse: (code) => coded(code, script.otherForm),
			rateLimited: () => ({ status: 429, body: { message: 'API rate limit exceeded' } }),
			serverError: () => (script.submitCode === '' ? down() : coded(script.submitCode))
		});
	}

	function enquire(id: string, { books, read }: Desk): SimulatorAnswer {
		const payment = books.byReference(id);
		if (!payment) return coded('ESB000045');
		const fault = read(payment);
		// Both forms are documented.
		if (fault === 'not_found') return coded(payment.script.otherForm ? 'DP00800001025' : 'ESB000045');
		if (fault === 'server_error') return coded('ESB000014');
		const outcome = books.outcomeOf(payment);
		const { otherForm } = payment.script;
		const state = payment.script.contradicts && outcome === 'success' ? 'TF' : stateOf(outcome, otherForm);
		const moneyId = state === 'TS' ? { airtel_money_id: payment.operatorReference } : {};
		const code = codeOf(state, outcome);
		return {
			status: 200,
			body: {
				data: {
					transaction: { ...moneyId, id, message: state === 'TS' ? 'success' : MESSAGES[code], status: state }
				},
				// Airtel's own sample has `success: false` and the code of "in process" beside TS.
				status:
					state === 'TS' ? fine(otherForm ? 'DP00800001001' : 'DP00800001006', otherForm) : fine(code, false)
			}
		};
	}

	async function sendBack(request: SimulatorRequest, { books, refund }: Desk): Promise<SimulatorAnswer> {
		const body = readBody(request);
		if (isAnswer(body)) return body;
		const id = object(body['transaction'])['airtel_money_id'];
		if (typeof id !== 'string' || id === '') return coded('ROUTER003');
		const payment = books.byOperatorReference(id);
		if (!payment || books.outcomeOf(payment) !== 'success') return coded('DP00800001025');
		if (refunded.has(id)) return coded('DP00800001008');
		const script = { ...ORDINARY, ...payment.script.refund };
		return refund(script, {
			queue: () => {
				refunded.add(id);
				books.refunds.push({
					reference: airtelMoneyId(books, 'CI'),
					paymentNumber: payment.number,
					amount: books.takenOf(payment),
					currency: payment.currency,
					queuedAt: books.now(),
					outcome: 'success',
					afterMs: 0
				});
			},
			answer: () => ({
				status: 200,
				body: {
					data: { transaction: { airtel_money_id: books.refunds.at(-1)?.reference, status: 'SUCCESS' } },
					status: { ...fine('', payment.script.otherForm), response_code: undefined }
				}
			}),
			refuse: (code) => coded(code, payment.script.otherForm),
			rateLimited: () => ({ status: 429, body: { message: 'API rate limit exceeded' } }),
			serverError: () => (script.submitCode === '' ? down() : coded(script.submitCode))
		});
	}

	function keys(books: Books): SimulatorAnswer {
		const until = new Date(books.now() + 24 * 60 * 60 * 1000).toISOString();
		const [year, month, day] = until.slice(0, 10).split('-');
		return {
			status: 200,
			body: {
				data: {
					key_id: 100,
					key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
					valid_upto: `${day}-${month}-${year} ${until.slice(11, 19)}`
				},
				status: fine('DP02010001001', true)
			}
		};
	}

	async function handle(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer | null> {
		const { method, path } = request;
		if (path === '/auth/oauth2/token') return method === 'POST' ? token(request, desk.books) : NOT_ALLOWED;
		const route = ROUTES.find(({ pattern }) => pattern.test(path));
		if (!route) return null;
		const refused = refusedHeaders(request, desk.books);
		if (refused) return refused;
		if (route.method !== method) return NOT_ALLOWED;
		const named = decodeURIComponent(route.pattern.exec(path)?.[1] ?? '');
		switch (route.name) {
			case 'pay':
				return pay(request, desk);
			case 'enquire':
				return enquire(named, desk);
			case 'refund':
				return sendBack(request, desk);
			case 'keys':
				return keys(desk.books);
		}
	}

	return {
		name: 'airtel',
		credentials: { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, callback_key: CALLBACK_KEY },
		defaults: () => ({}),
		environment: (url) => ({
			AIRTEL_BASE_URL: url,
			AIRTEL_COUNTRY: settings.country,
			AIRTEL_CURRENCY: settings.currency,
			AIRTEL_CLIENT_ID: CLIENT_ID,
			AIRTEL_CLIENT_SECRET: CLIENT_SECRET,
			...(settings.callback_authentication === 'off' ? {} : { AIRTEL_CALLBACK_KEY: CALLBACK_KEY }),
			...(settings.message_signing === 'on' ? { AIRTEL_MESSAGE_SIGNING: 'on' } : {}),
			...(settings.leading_zero === 'on' ? { AIRTEL_LEADING_ZERO: 'on' } : {}),
			...(settings.short_ids === 'on' ? { AIRTEL_ID_FORMAT: 'short' } : {})
		}),
		handle,
		notFound: () => ({ status: 404, body: { message: 'no Route matched with those values' } }),
		down,
		callback: (payment, outcome, how) => callbackOf(settings, CALLBACK_KEY, payment, outcome, how),
		expireTokens: () => tokens.clear(),
		portal(changes) {
			for (const [name, value] of Object.entries(changes)) {
				if (!(name in settings)) throw new Error(`Airtel's portal has no ${name}`);
				Object.assign(settings, { [name]: value });
			}
		}
	};
}

const ROUTES = [
	{ method: 'POST', pattern: /^\/merchant\/v[12]\/payments\/$/, name: 'pay' },
	{ method: 'POST', pattern: /^\/standard\/v[12]\/payments\/refund$/, name: 'refund' },
	{ method: 'GET', pattern: /^\/standard\/v1\/payments\/([^/]+)$/, name: 'enquire' },
	{ method: 'GET', pattern: /^\/v1\/rsa\/encryption-keys$/, name: 'keys' }
] as const;

const NOT_ALLOWED: SimulatorAnswer = { status: 405, body: { message: 'Method Not Allowed' } };

let issued = 0;

/** e.g. `MP210603.1234.L06941` */
function airtelMoneyId(books: Books, prefix = 'MP'): string {
	const [date = '', time = ''] = new Date(books.now()).toISOString().split('T');
	issued += 1;
	const number = String(issued % 100_000).padStart(5, '0');
	return `${prefix}${date.slice(2).replaceAll('-', '')}.${time.slice(0, 5).replace(':', '')}.L${number}`;
}

const isJson = (type: string | undefined) => /^application\/json\b/i.test(type ?? '');

const isAnswer = (value: Record<string, unknown> | SimulatorAnswer): value is SimulatorAnswer =>
	typeof value.status === 'number' && 'body' in value;
