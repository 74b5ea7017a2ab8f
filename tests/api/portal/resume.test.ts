/** /resume over HTTP: what a browser without script sends and gets. */
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { shownCode } from '../../support/pages/purchase.ts';
import { eventually, useFixture, type Fixture } from '../../support/server/fixture.ts';

const TRIES = 4;

/** Sends forms as a browser without script does, and says where answers lead. */
function forms(fixture: () => Fixture) {
	return {
		post: (path: string, fields: Record<string, string>) =>
			fetch(fixture().server.url + path, {
				method: 'POST',
				redirect: 'manual',
				headers: { origin: fixture().server.url, accept: 'text/html' },
				body: new URLSearchParams(fields)
			}),
		placeOf: (answer: Response) =>
			new URL(answer.headers.get('location') ?? '', fixture().server.url).pathname
	};
}

describe('resuming by code', () => {
	const fixture = useFixture({ database: 'sqlite', env: { RATE_LIMIT_CODES: String(TRIES) } });

	const { post, placeOf } = forms(fixture);
	const get = (path: string) =>
		fetch(fixture().server.url + path, { redirect: 'manual', headers: { accept: 'text/html' } });
	it.each(['/', '/r/3', '/r/999', '/nothing-here', '/am/r/3'])(
		'from %s one link leads there',
		async (path) => {
			const html = await (await get(path)).text();
			expect(html).toContain(`href="${path.startsWith('/am') ? '/am' : ''}/resume"`);
		}
	);

	it('a code opens its page in the chosen language; guesses are limited with an error page', async () => {
		const bought = await post('/r/3', {
			time: '1h 500',
			paymentMethod: 'mtn_momo',
			phone: numberEnding('003'),
			purchase: 'resume-test-token-123456'
		});
		expect(bought.status).toBe(303);
		const page = placeOf(bought);
		const code = shownCode(await (await get(page)).text()) ?? '';
		expect(code).not.toBe('');

		const opened = await post('/resume', { code });
		expect([opened.status, placeOf(opened)]).toEqual([303, page]);
		expect(placeOf(await post('/sw/resume', { code: code.toLowerCase() }))).toBe(`/sw${page}`);
		expect(placeOf(await get(`/resume?code=${code}`))).toBe(page);

		// What is no code is no guess, and costs none.
		for (const typed of ['', 'hello', 'K7MQ']) {
			const answer = await post('/resume', { code: typed });
			expect(answer.status).toBe(typed === '' ? 400 : 404);
		}
		const unknown = await post('/resume', { code: 'ZZZZ-ZZZZ' });
		expect(unknown.status).toBe(404);
		expect(await unknown.text()).toContain('We can’t find this code.');

		// The fifth of this minute, though it is right.
		const limited = await post('/resume', { code });
		expect(limited.status).toBe(429);
		expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
		expect(await limited.text()).toContain('Your purchase is safe.');
		expect((await get(page)).status).toBe(200);
		await fixture().server.advance(61_000);
		expect((await post('/resume', { code })).status).toBe(303);
	});
});

describe('codes that many networks try at once', () => {
	const fixture = useFixture({ database: 'sqlite', env: { RATE_LIMIT_CODES_TOTAL: '2' } });

	const { post, placeOf } = forms(fixture);

	it('do not keep a buyer who knows the number that paid, in any form, from the purchase', async () => {
		const phone = numberEnding('001');
		const purchase = 'crowd-test-token-1234567';
		const order = { time: '1h 500', paymentMethod: 'mobile_money', phone, purchase };
		const page = placeOf(await post('/r/3', order));
		const code = await eventually('the page has a code', async () =>
			shownCode(await (await fetch(fixture().server.url + page)).text())
		);
		for (const typed of ['ZZZZ-ZZZZ', 'YYYY-YYYY'])
			expect((await post('/resume', { code: typed })).status).toBe(404);

		for (const asked of [code, 'XXXX-XXXX']) {
			const crowded = await post('/resume', { code: asked });
			expect(crowded.status).toBe(429);
			const html = await crowded.text();
			expect(html).toContain('name="phone"');
			expect(html).toContain(`value="${asked}"`);
		}
		for (const wrong of [
			{ code, phone: numberEnding('002') },
			{ code: 'XXXX-XXXX', phone },
			{ code, phone: 'no number' }
		]) {
			const refused = await post('/resume', wrong);
			expect(refused.status).toBe(404);
			expect(await refused.text()).toContain('do not match');
		}
		for (const typed of [phone, phone.replace('+256', '0'), `${phone.slice(0, 7)} ${phone.slice(7)}`]) {
			expect(placeOf(await post('/resume', { code, phone: typed }))).toBe(page);
		}
	});
});
