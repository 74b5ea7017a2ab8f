/**
 * Providers of SMS: Africa's Talking (developers.africastalking.com/docs/sms/sending/bulk), and one that takes any JSON
 * body. Both answer `GET /sent` with what they sent. Numbers that end in 403 are refused as invalid, in 405 for want of balance.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Protocol, type SimulatorAnswer, type SimulatorRequest, objectIn } from './simulator.ts';

const API_KEY = 'fake-africastalking-key';
const USERNAME = 'fake-africastalking-user';
const TOKEN = 'fake-sms-token';
const REFUSED: Readonly<Record<string, string>> = {
	'403': 'InvalidPhoneNumber',
	'405': 'InsufficientBalance'
};

interface SentSms {
	to: string;
	text: string;
}

interface Own extends Pick<Protocol, 'name' | 'credentials' | 'environment'> {
	sent: SentSms[];
	answer(request: SimulatorRequest): SimulatorAnswer | null;
}

/** A protocol without payments. */
const provider = ({ sent, answer, ...own }: Own): Protocol & { sent: SentSms[] } => ({
	...own,
	sent,
	handle: async (request) =>
		`${request.method} ${request.path}` === 'GET /sent' ? { status: 200, body: sent } : answer(request),
	defaults: () => ({}),
	notFound: () => ({ status: 404, body: 'not found' }),
	down: () => ({ status: 500, body: 'down' }),
	callback: () => null,
	expireTokens: () => {}
});

const refusalOf = (to: string) => REFUSED[to.slice(-3)];

export function africasTalkingProtocol(): Protocol & { sent: SentSms[] } {
	const sent: SentSms[] = [];
	const answer = ({ method, path, headers, body }: SimulatorRequest): SimulatorAnswer | null => {
		if (path !== '/version1/messaging') return null;
		if (method !== 'POST' || !isType(headers, 'application/x-www-form-urlencoded')) {
			return { status: 400, body: 'The request content was malformed' };
		}
		const form = new URLSearchParams(body);
		if (headers['apikey'] !== API_KEY || form.get('username') !== USERNAME) {
			return { status: 401, body: 'The supplied authentication is invalid' };
		}
		const [to, text] = [form.get('to') ?? '', form.get('message') ?? ''];
		if (!/^\+\d{8,15}$/.test(to) || text === '') return { status: 400, body: 'Request is missing a field' };
		const refusal = refusalOf(to);
		if (refusal === undefined) sent.push({ to, text });
		const recipient = refusal
			? { statusCode: Number(to.slice(-3)), number: to, status: refusal, cost: '0', messageId: 'None' }
			: {
					statusCode: 101,
					number: to,
					status: 'Success',
					cost: 'UGX 35.0000',
					messageId: `ATXid_${sent.length}`
				};
		const total = refusal ? 'Sent to 0/1 Total Cost: 0' : 'Sent to 1/1 Total Cost: UGX 35.0000';
		return { status: 201, body: { SMSMessageData: { Message: total, Recipients: [recipient] } } };
	};
	return provider({
		...{ sent, answer },
		name: 'africastalking',
		credentials: { username: USERNAME, api_key: API_KEY },
		environment: (url) => ({
			AFRICASTALKING_URL: url,
			AFRICASTALKING_USERNAME: USERNAME,
			AFRICASTALKING_API_KEY: API_KEY
		})
	});
}

export function httpSmsProtocol(): Protocol & { sent: SentSms[] } {
	const sent: SentSms[] = [];
	const answer = ({ method, headers, body }: SimulatorRequest): SimulatorAnswer => {
		const message = isType(headers, 'application/json') ? objectIn(body) : null;
		if (method !== 'POST' || !message) return { status: 400, body: 'JSON is expected' };
		if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, body: 'wrong token' };
		const [to, text] = [String(message['to']), String(message['text'])];
		if (refusalOf(to)) return { status: 422, body: { error: refusalOf(to) } };
		sent.push({ to, text });
		return { status: 202, body: { id: sent.length } };
	};
	return provider({
		...{ sent, answer },
		name: 'sms',
		credentials: { token: TOKEN },
		environment: (url) => ({
			SMS_URL: `${url}/send`,
			SMS_HEADERS: JSON.stringify({ 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` })
		})
	});
}

const isType = (headers: IncomingHttpHeaders, type: string) =>
	headers['content-type']?.toLowerCase().startsWith(type) ?? false;
