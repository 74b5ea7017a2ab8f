/**
 * Airtel Money's Collection API, after the portals' pages (mobile-money.md section 3): token, USSD push in v1 and v2,
 * enquiry, refund, keys of message signing, user enquiry, callbacks with and without hash. What a merchant sets in
 * Airtel's portal is set with `portal` (see AirtelPortal).
 */
import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt, randomBytes } from 'node:crypto';
import { coded, codeOf, down, error, fine, MESSAGES, stateOf, user } from './answers.ts';
import { callbackOf } from './callback.ts';
import { isCurrency, MARKETS, ORDINARY_PORTAL, type AirtelPortal } from './portal.ts';
import { object, wrongNumber, wrongPayment } from './requests.ts';
import type { Books } from '../books.ts';
import type { Desk, Protocol, SimulatorAnswer, SimulatorRequest } from '../frame/protocol.ts';
import { objectIn } from '../json.ts';
import { ORDINARY, type Script } from '../script.ts';

const CLIENT_ID = 'fake-airtel-client-id';
const CLIENT_SECRET = 'fake-airtel-client-secret';
const CALLBACK_KEY = 'fake-airtel-callback-key';

/** Airtel names no test numbers. Here a number that ends in `99` and four digits fails with that code, e.g. …991007. */
const CODED_NUMBER = /99(10(?:0[023457889]|10|24|29))$/;

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
		const seconds = Number(settings.token_seconds);
		tokens.set(value, books.now() + seconds * 1000);
		const expiresIn = settings.expires_in === 'text' ? String(seconds) : seconds;
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
		const national = String(object(body['subscriber'])['msisdn']).replace(
			/^0/,
			settings.country === 'CG' ? '0' : ''
		);
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
					status: {
						code: '200',
						message: 'SUCCESS',
						result_code: 'ESB000010',
						success: payment.script.otherForm
					}
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
			case 'user':
				return user(named, wrongNumber(settings, named) === null && !named.endsWith('0000'));
		}
	}

	return {
		name: 'airtel',
		credentials: { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, callback_key: CALLBACK_KEY },
		defaults(phone): Partial<Script> {
			const digits = CODED_NUMBER.exec(phone)?.[1];
			if (digits === undefined) return {};
			return { outcome: digits === '1000' ? 'TA' : `DP0080000${digits}` };
		},
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
	{ method: 'GET', pattern: /^\/v1\/rsa\/encryption-keys$/, name: 'keys' },
	{ method: 'GET', pattern: /^\/standard\/v[12]\/users\/([^/]+)$/, name: 'user' }
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
