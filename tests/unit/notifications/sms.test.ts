/** The text of an SMS, its price in parts, and the request of the generic provider. */
import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '#lib/server/platform/http-client.ts';
import { countSmsParts, formatSmsText, httpProvider } from '#lib/server/notifications.ts';

it('typographic characters, which double the price, become plain ones', () => {
	const text = formatSmsText('UGX\u00a04,500 “Wi\u2011Fi” isn’t\u2060 \u2066x\u2069');
	expect([text, countSmsParts(text)]).toEqual([`UGX 4,500 "Wi-Fi" isn't x`, 1]);
});

it.each([
	['', 1],
	['a'.repeat(160), 1],
	['a'.repeat(161), 2],
	['é'.repeat(306), 2],
	['a'.repeat(307), 3],
	['አ'.repeat(70), 1],
	['አ'.repeat(71), 2],
	['€'.repeat(135), 3]
])('a text counts as its parts (%#)', (text, parts) => {
	expect(countSmsParts(text)).toBe(parts);
});

describe('the generic provider', () => {
	const sentWith = async (headers: Record<string, string>, body: string) => {
		const requests: HttpRequest[] = [];
		const http = {
			open: async () => {},
			stop: async () => {},
			send: async (request: HttpRequest) => {
				requests.push(request);
				return { kind: 'response', status: 200, headers: {}, text: '' } as const;
			}
		};
		const provider = httpProvider({ kind: 'http', url: 'http://modem.local/send/', headers, body }, http);
		expect(await provider.send({ to: '+256772123456', text: 'A "b"\n{number}&c=d' })).toEqual({
			kind: 'sent'
		});
		expect(requests).toHaveLength(1);
		expect(requests[0]).toMatchObject({ method: 'POST', url: 'http://modem.local/send/', headers });
		return requests[0]?.body ?? '';
	};

	it('writes the values into JSON', async () => {
		const body = await sentWith(
			{ 'content-type': 'application/json' },
			'{"to":["{digits}"],"body":"{text}"}'
		);
		expect(JSON.parse(body)).toEqual({ to: ['256772123456'], body: 'A "b"\n{number}&c=d' });
	});

	it('writes the values into a form', async () => {
		const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
		const form = new URLSearchParams(await sentWith(type, 'to={number}&text={text}'));
		expect([form.get('to'), form.get('text')]).toEqual(['+256772123456', 'A "b"\n{number}&c=d']);
	});
});
