/** Secrets and full phone numbers are planted wherever they may pass, and then looked for in what the server writes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '#lib/server/developer/api-keys.ts';
import { makeWifiPassword } from '#lib/server/passes.ts';
import { createWebhookSecret } from '#lib/server/developer/webhook-delivery.ts';
import { createApi, numberEnding, orderOf } from '../../../support/api/api.ts';
import { signInAs } from '../../../support/pages/browsing.ts';
import { startReceiver, type Receiver } from '../../../support/api/receiver.ts';
import { arrived, INSECURE, register } from '../../../support/api/webhooks.ts';
import { DATABASES, demoKey, eventually, startFixture, useFixture } from '../../../support/server/fixture.ts';

/** All endings that decide what the sandbox operator does, and one that does not. */
const ENDINGS = ['001', '002', '003', '004', '005', '006', '007', '008', '009', '123'];

const formsOf = (phone: string) => [
	phone,
	phone.slice(1),
	`0${phone.slice(4)}`,
	phone.slice(-9),
	encodeURIComponent(phone)
];

/** Every run of letters and digits in a secret that tells something about it. */
const piecesOf = (secret: string) => secret.slice('whsec_'.length).match(/[0-9A-Za-z]{6,}/g) ?? [];

/** What a receiver may make of what it got: [how, answer], for texts that it knows. */
const ECHOES: readonly (readonly [string, (texts: readonly string[]) => string])[] = [
	['as it is', (texts) => texts.join(' ')],
	['as JSON', (texts) => JSON.stringify({ texts })],
	['as JSON with escaped slashes', (texts) => JSON.stringify({ texts }).replaceAll('/', '\\/')],
	['as a form', (texts) => new URLSearchParams(texts.map((text) => ['text', text])).toString()],
	['as HTML', (texts) => texts.map((text) => `<p>${text.replaceAll('+', '&#43;')}</p>`).join('')],
	[
		'in capitals',
		(texts) =>
			texts
				.filter((text) => /^([a-z2-9]{4}-?){3}$/.test(text))
				.join()
				.toUpperCase()
	],
	// Cut off after the first kilobyte, inside of each of them.
	...[2, 5, 8, 11].map(
		(length) => [`cut after ${length}`, (texts: readonly string[]) => cut(texts, length)] as const
	)
];

/** Texts that together are as long as what is kept, and end within a Wi-Fi password. */
const cut = (texts: readonly string[], length: number) => {
	const password = texts.find((text) => /^([a-z2-9]{4}-?){3}$/.test(text)) ?? '';
	return `${'.'.repeat(1_023 - length)} ${password}`;
};

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { ...INSECURE, AIRTILL_LOG_LEVEL: 'debug' } });
	let receiver: Receiver;
	beforeAll(async () => {
		receiver = await startReceiver();
	});
	afterAll(() => receiver.stop());

	it('no secret, password or full phone number is in the log, not even when the database fails', async () => {
		const { api, sql, server, newKey, nobody } = fixture();
		const numbers = ENDINGS.map((ending) => numberEnding(ending));
		const secrets: string[] = [];

		for (const phone of numbers) {
			const session = await api.createSession({ phone });
			await api.pay(session);
		}
		const { session } = await fixture().buy();
		if (session.password === null) throw new Error('There is no password to look for');
		secrets.push(session.password);
		numbers.push(session.phone);
		await server.advance(24 * 60 * 60 * 1000);

		for (const options of [{ revokedAt: 1 }, { expiresAt: 1 }, { status: 'suspended' as const }, {}]) {
			const { key, api: caller } = await newKey(options);
			secrets.push(key);
			await caller.send('GET', '/v1/sessions/1');
			await nobody.send('GET', `/v1/sessions?api_key=${key}`);
		}
		const unknown = generateKey('test');
		secrets.push(unknown);
		for (const authorization of [`Bearer ${unknown}`, unknown, `Basic ${unknown}`]) {
			await nobody.send('GET', `/v1/${unknown}`, { headers: { authorization } });
		}

		const viaPage = numberEnding('003');
		numbers.push(viaPage);
		const page = await fetch(`${server.url}/r/3`, { method: 'POST',
			redirect: 'manual',
			headers: { origin: server.url, 'content-type': 'application/x-www-form-urlencoded' },
			body: new URLSearchParams({ phone: viaPage, duration: '1h', payment_method: 'mobile_money' })
		});
		await page.arrayBuffer();
		expect(page.status).toBeLessThan(500);

		// A constraint that no code knows: the failed statement's row is in PostgreSQL's error.
		const failing = numberEnding('123');
		numbers.push(failing);
		await refusePhone(failing);
		await api.refused('500 internal_error', 'POST', '/v1/sessions', { body: orderOf({ phone: failing }) });

		const written = server.stdout() + server.stderr();
		expect(written).toContain('request failed');
		for (const phone of numbers) {
			for (const form of formsOf(phone)) {
				expect(written.includes(form), `${form} was written`).toBe(false);
			}
		}
		for (const secret of secrets) expect(written.includes(secret), `${secret} was written`).toBe(false);

		async function refusePhone(phone: string): Promise<void> {
			if (database === 'postgres') {
				await sql.run(`alter table sessions add constraint planted check (phone <> '${phone}')`);
			} else {
				await sql.run(`create trigger planted before insert on sessions when new.phone = '${phone}'
					begin select raise(abort, 'planted ${phone}'); end`);
			}
		}
	});

	it('the delivery log and its pages hold nothing of what a receiver sends back', async () => {
		const { server, sql } = fixture();
		const browser = await signInAs(server, 'app');
		const key = demoKey(server, 'app');
		const api = createApi(server.url, key);
		const { id, secret } = await register(api, `${receiver.url}/echo`, ['payment.success']);
		const paying = await api.createSession({ phone: numberEnding('008') });
		await api.pay(paying);
		const [delivered] = await arrived(receiver, '/echo');
		const session = await api.getSession(paying.id);
		if (session.password === null || secret === null) throw new Error('There is nothing to look for');
		const { phone, password } = session;
		expect(delivered?.raw).toContain(phone);
		const signature = String(delivered?.headers['webhook-signature']);
		const known = [
			...[delivered?.raw ?? '', signature, key, secret, secret.slice('whsec_'.length)],
			...[password, phone, `0${phone.slice(4, 7)} ${phone.slice(7, 10)} ${phone.slice(10)}`]
		];
		const planted = [
			...[key, signature.slice('v1,'.length), password, password.slice(0, 7), password.toUpperCase()],
			...[...formsOf(phone), ...piecesOf(secret)]
		];
		for (const [how, echo] of ECHOES) {
			for (const text of how.startsWith('cut') ? [echo(known)] : known.map((one) => echo([one]))) {
				receiver.reply('/echo', { status: 418, body: text });
				const sent = await browser.post(`/developer/webhooks/${id}?/test`);
				const page = await eventually(`an answer ${how}`, async () => {
					const shown = await browser.get(sent.path);
					return shown.text.includes('after ') && shown;
				});
				for (const part of planted) expect(page.html.includes(part), `${part} ${how}`).toBe(false);
			}
		}
		const pages = [await browser.get(`/developer/webhooks/${id}`), await browser.get('/developer/webhooks')];
		const kept = JSON.stringify([
			pages.map(({ html }) => html),
			await sql.all('select * from webhook_endpoints'),
			await sql.all('select * from webhook_deliveries'),
			await sql.all('select * from webhook_attempts'),
			server.stderr()
		]);
		expect(kept).toContain('whsec_…');
		for (const part of planted) expect(kept.includes(part), `${part} was kept`).toBe(false);
	});

	it('the request log has no key, number, password or secret, wherever in the address they stood', async () => {
		const { server, sql } = fixture();
		const browser = await signInAs(server, 'app');
		const key = demoKey(server, 'app');
		const api = createApi(server.url, key);
		const phone = numberEnding('123');
		const planted = [
			key,
			createWebhookSecret(),
			makeWifiPassword(),
			phone,
			phone.slice(1),
			phone.slice(-9),
			`0${phone.slice(4)}`
		];
		for (const text of planted) {
			const written = encodeURIComponent(text);
			for (const path of [
				`/v1/${written}`,
				`/v1/sessions/${written}`,
				`/v1/payments/${written}/status`,
				`/v1/routers?lat=0&lon=0&phone=${written}&api_key=${written}`
			]) {
				await api.send('GET', path);
			}
			await api.send('POST', '/v1/sessions', { body: { phone: text, password: text } });
		}
		await fixture().nobody.send('GET', `/v1/sessions/${planted[0] ?? ''}`);
		const page = await browser.get('/developer/requests');
		expect(page.text).toContain('/v1/payments/…/status');
		const calls = await eventually('all calls are written', async () => {
			const rows = await sql.all('select * from request_log');
			return rows.length >= 5 * planted.length && rows;
		});
		const kept = JSON.stringify([page.html, calls, server.stderr()]);
		for (const text of planted) expect(kept.includes(text), `${text} was kept`).toBe(false);
	});

	it('errors that quote secrets are logged, and kept with their jobs, without them', async () => {
		const { api, server, sql } = fixture();
		const phone = numberEnding('123');
		const secret = createWebhookSecret();
		const planted = [generateKey('test'), makeWifiPassword(), 'planted.token.of-a-link', 'planted password'];
		const [key = '', password = '', token = '', typed = ''] = planted;
		const message = `planted ${phone} 0${phone.slice(4)} ${key} ${secret} ${password} token=${token} {"password":"${typed}"}`;
		const payment = await api.pay(await api.createSession());
		await failUpdates(message);
		await eventually('the job has failed', async () =>
			sql.count(
				"select count(*) from jobs where kind like 'payment.%' and subject_id = ? and last_error is not null",
				payment.id
			)
		);
		const kept = JSON.stringify([await sql.all('select * from jobs'), server.stderr()]);
		expect(kept).toContain('planted … … atl_test_… whsec_… ****-****-****');
		for (const text of [...planted, ...formsOf(phone), ...piecesOf(secret)]) {
			expect(kept.includes(text), `${text} was kept`).toBe(false);
		}

		async function failUpdates(text: string): Promise<void> {
			if (database === 'postgres') {
				await sql.run(`create function planted() returns trigger language plpgsql
					as $$ begin raise exception '%', $text$${text}$text$; end $$`);
				await sql.run(
					'create trigger planted before update on payments for each row execute function planted()'
				);
			} else {
				await sql.run(`create trigger planted_update before update on payments
					begin select raise(abort, '${text}'); end`);
			}
		}
	});
});

it('an error that ends the process is its last line in the log, without what it quotes or carries', async () => {
	const phone = numberEnding('123');
	const key = generateKey('test');
	const script = `process.on('SIGUSR2', () => {
		throw Object.assign(new Error('planted ${key}'), { detail: 'Failing row (${phone})', parameters: ['${phone}'] });
	})`;
	const fixture = await startFixture({
		env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
	});
	try {
		process.kill(fixture.server.pid, 'SIGUSR2');
		const lines = () => fixture.server.stdout() + fixture.server.stderr();
		await eventually('the last line', async () => lines().includes('uncaught error'));
		const written = lines();
		for (const text of [key, ...formsOf(phone)]) expect(written.includes(text), text).toBe(false);
	} finally {
		await fixture.stop();
	}
});
