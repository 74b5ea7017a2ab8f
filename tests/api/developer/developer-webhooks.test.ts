/** Webhooks in the developer area: the whole life of an endpoint without script, and whose it is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi, numberEnding } from '../../support/api/api.ts';
import {
	browse,
	fieldValue,
	signInAs,
	signUp,
	triesForgotten,
	type Browsing,
	type Fields,
	type Page
} from '../../support/pages/browsing.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';
import { arrived, INSECURE, verified } from '../../support/api/webhooks.ts';
import { demoKey, eventually, useFixture } from '../../support/server/fixture.ts';

const SECRET_TEXT = /whsec_[A-Za-z0-9+/=]+/;

let count = 0;
const fresh = () => `/hook${(count += 1)}`;

const fixture = useFixture({ database: 'sqlite', env: INSECURE });
const server = () => fixture().server;
let receiver: Receiver;
beforeAll(async () => {
	receiver = await startReceiver();
});
afterAll(() => receiver.stop());

let app: Browsing | null = null;
async function person(): Promise<Browsing> {
	await triesForgotten(fixture());
	return (app ??= await signInAs(server(), 'app'));
}

const secretIn = ({ text }: Page) => SECRET_TEXT.exec(text)?.[0] ?? null;

/** Adds a webhook. @returns its page's path and its secret */
async function add(browser: Browsing, path: string, events: readonly string[] = ['payment.success']) {
	const page = await browser.post('/developer/webhooks', { url: receiver.url + path, event: events });
	const id = /href="[^"]*\/(\d+)"[^>]*>Go to the webhook/.exec(page.html)?.[1];
	if (id === undefined) throw new Error(`No webhook: ${page.status} ${page.text}`);
	return { here: `/developer/webhooks/${id}`, secret: secretIn(page), page };
}

/** Sends a test event and waits for what became of it. */
async function test(browser: Browsing, here: string): Promise<Page> {
	const { path } = await browser.post(`${here}?/test`);
	expect(path).toMatch(/\/webhooks\/\d+\/\d+$/);
	return eventually('the test event is sent', async () => {
		const page = await browser.get(path);
		return page.text.includes('after ') && page;
	});
}

it('a new one shows its secret once; events come signed with it', async () => {
	const browser = await person();
	const path = fresh();
	const { here, secret } = await add(browser, path);
	expect(secret).not.toBeNull();
	expect((await browser.get(here)).html).not.toMatch(SECRET_TEXT);
	const again = await add(browser, path);
	expect(again.secret).toBeNull();
	expect(again.here).toBe(here);
	expect(again.page.text).toContain('This webhook already exists');

	const api = createApi(server().url, demoKey(server(), 'app'));
	const payment = await api.pay(await api.createSession({ phone: numberEnding('008') }));
	const [received] = await arrived(receiver, path);
	expect(verified(received, secret)).toMatchObject({ type: 'payment.success', data: { id: payment.id } });
	await eventually('it is shown', async () =>
		/delivered payment\.success evt_\w+/.test((await browser.get(here)).text)
	);
});

it('a new secret is shown once, and for a day both sign; its form works once', async () => {
	const browser = await person();
	const path = fresh();
	const { here, secret: old } = await add(browser, path);
	const version = fieldValue(await browser.get(here), 'version');
	const made = await browser.post(`${here}?/secret`, { version });
	const secret = secretIn(made);
	expect(secret).not.toBeNull();
	expect(secret).not.toBe(old);
	const again = await browser.post(`${here}?/secret`, { version });
	expect(again.status).toBe(409);
	expect(again.html).not.toMatch(SECRET_TEXT);
	expect((await browser.get(here)).text).toContain('The previous secret works until');
	await test(browser, here);
	const [received] = await arrived(receiver, path);
	for (const one of [old, secret]) expect(verified(received, one).type).toBe('webhook.test');
});

it('a delivery is sent again, and a webhook gets other events, is disabled, enabled and removed', async () => {
	const browser = await person();
	const path = fresh();
	const wrong = { url: 'https://user:pass@app.example.com/', event: ['payment.success'] };
	expect((await browser.post('/developer/webhooks', wrong)).text).toContain(
		'Leave out the username and password.'
	);
	receiver.reply(path, { status: 500, body: '{"error":"away <b>"}' });
	const { here, secret } = await add(browser, path);
	const failed = await test(browser, here);
	expect(failed.text).toContain('HTTP 500');
	expect(failed.text).toContain('{"error":"away <b>"}');
	expect(failed.html).not.toContain(secret);

	receiver.reply(path, { status: 200 });
	expect((await browser.post(failed.path)).text).toContain('It is sent again, with the same id.');
	const [first, second] = await arrived(receiver, path, 2);
	expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
	await eventually('it is delivered', async () => (await browser.get(failed.path)).text.includes('HTTP 200'));
	expect((await browser.get(`${here}?status=failed`)).text).toContain('No matching deliveries.');
	receiver.reply(path, { status: 503 });
	await test(browser, here);
	receiver.reply(path, { status: 204 });
	const press = async (form: string, fields: Fields = {}) =>
		(await browser.post(`${here}?/${form}`, fields)).text;
	expect(await press('replay', { days: '1' })).toContain('1 delivery is sent again.');
	expect(await press('events', { event: ['payment.success', 'session.created'] })).toContain(
		'The events are saved.'
	);
	expect(await press('status', { status: 'disabled' })).toContain('The webhook is disabled.');
	expect(await press('status', { status: 'active' })).toContain('The webhook is enabled.');
	expect(await press('remove')).toContain('The webhook and its log are removed.');
	expect((await browser.get(here)).status).toBe(404);
});

it('of another account cannot be seen or touched', async () => {
	const browser = await person();
	const path = fresh();
	receiver.reply(path, { status: 500 });
	const { here } = await add(browser, path);
	const { path: delivery } = await test(browser, here);
	const version = fieldValue(await browser.get(here), 'version');
	await triesForgotten(fixture());
	const thief = await signUp(server(), `thief@people.example`);
	const own = await add(thief, fresh());
	for (const wanted of [here, delivery, `${own.here}/${delivery.split('/').at(-1)}`]) {
		expect((await thief.get(wanted)).status).toBe(404);
	}
	for (const form of [
		`${here}?/events`,
		`${here}?/secret`,
		`${here}?/status`,
		`${here}?/test`,
		`${here}?/replay`,
		`${here}?/remove`,
		delivery
	]) {
		const fields = { event: 'session.created', version, status: 'disabled', days: '1' };
		expect((await thief.post(form, fields)).status).toBe(404);
		expect((await browse(server().url).post(form, fields)).status).toBe(401);
	}
	expect((await thief.get('/developer/webhooks')).text).not.toContain(path);
	expect((await browser.get(here)).text).toMatch(/failing|active/);
});
