/** A buyer's code by SMS: only if the installation pays for it, only to the number that paid, and again only if it may be missing. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulators/simulator.ts';
import { httpSmsProtocol } from '../../simulators/sms.ts';
import { clockOf } from '../../support/gateways/watch.ts';
import { browse, type Page } from '../../support/pages/browsing.ts';
import { buyAt, numberEnding, untilTitled } from '../../support/pages/purchase.ts';
import { eventually, startFixture, type Fixture } from '../../support/server/fixture.ts';

const codeOf = ({ html }: Page) => /class="code"[^>]*>([0-9A-Z]{4}-[0-9A-Z]{4})</.exec(html)?.[1] ?? 'none';
const formOf = ({ html }: Page) => html.includes('action="?/sms"');

const protocol = httpSmsProtocol();
let provider: Simulator;
let fixture: Fixture;

beforeAll(async () => {
	provider = await startSimulator(protocol);
	fixture = await startFixture({
		database: 'sqlite',
		env: { ...provider.environment, SMS_BUYER_CODES: '1', PAYER_PROMPTS: '100' }
	});
});
afterAll(async () => {
	await fixture?.stop();
	await provider?.stop();
});

const buyer = () => browse(fixture.server.url);
const e164 = (phone: string) => `+256${phone.slice(1)}`;
const textsTo = (phone: string) => protocol.sent.filter(({ to }) => to === e164(phone));

async function buy(phone: string): Promise<string> {
	const path = await buyAt(fixture.server.url, '/r/3', phone);
	await untilTitled(fixture.server.url, path, /is paid until/);
	return path;
}

/** The page once the SMS was tried. */
async function afterTry(path: string): Promise<Page> {
	return eventually('the SMS was tried', async () => {
		const page = await buyer().get(path);
		return /We are sending your code/.test(page.text) ? null : page;
	});
}

it('goes to the number that paid, once, whatever the form says and however often it is sent', async () => {
	const phone = numberEnding('008');
	const path = await buy(phone);
	const page = await buyer().get(path);
	expect(page.text).toContain(`Send your code to ${phone.slice(0, 4)} ••• 008 by SMS`);
	const press = () => buyer().post(`${path}?/sms`, { phone: '0772999999', number: '0772999999' });
	await Promise.all([press(), press()]);
	const sent = await afterTry(path);
	expect(sent.text).toContain(`We sent your code to ${phone.slice(0, 4)} ••• 008.`);
	expect(formOf(sent)).toBe(false);
	await press();
	expect(protocol.sent).toHaveLength(1);
	const [sms] = textsTo(phone);
	const code = codeOf(page);
	expect(sms?.text).toContain(`Your code: ${code}`);
	expect(sms?.text).toMatch(/\/resume$/);
	// No code in the log, in any form.
	expect(fixture.server.stderr()).not.toContain(code);
	expect(fixture.server.stderr()).not.toContain(phone.slice(1));
	const left = 'select count(*) from notifications where content_sealed is not null';
	expect(await fixture.sql.count(left)).toBe(0);
});

it('is sent from the kiosk too, once', async () => {
	const phone = numberEnding('008');
	const path = await buy(phone);
	const kiosk = `${path}/kiosk`;
	const ask = /Send your code to 0774\s•••\s008 by SMS/;
	expect((await buyer().get(kiosk)).text).toMatch(ask);
	expect((await buyer().post(`${kiosk}?/sms`)).path).toBe(kiosk);
	await buyer().post(`${kiosk}?/sms`);
	await afterTry(path);
	const { text } = await buyer().get(kiosk);
	expect(text).toContain('We sent your');
	expect(text).not.toMatch(ask);
	expect(textsTo(phone)).toHaveLength(1);
});

it('is offered once more if the provider refused it', async () => {
	// The provider refuses these numbers.
	const path = await buy(numberEnding('403'));
	const press = () => buyer().post(`${path}?/sms`);
	await press();
	const refused = await afterTry(path);
	expect(refused.text).toMatch(/We can’t send the SMS to 0774 ••• 403 right now\. Write your code down\./);
	expect(formOf(refused)).toBe(true);
	await press();
	expect(formOf(await afterTry(path))).toBe(false);
	await press();
	expect(await fixture.sql.count("select count(*) from notifications where status = 'failed'")).toBe(2);
});

it('is offered once more if the answer of the provider was lost', async () => {
	const phone = numberEnding('008');
	const path = await buy(phone);
	provider.outage('refuse');
	await buyer().post(`${path}?/sms`);
	const page = await afterTry(path);
	provider.outage(null);
	expect(page.text).toContain(`The SMS to ${phone.slice(0, 4)} ••• 008 may not arrive.`);
	await expectOneMore(path, phone);
});

it('is offered once more if the process died while it was sent', async () => {
	const phone = numberEnding('008');
	const path = await buy(phone);
	provider.outage('hang');
	await buyer().post(`${path}?/sms`);
	await eventually('the provider is asked', async () =>
		provider.requests.some(({ body }) => body.includes(phone.slice(1)))
	);
	await fixture.server.kill();
	provider.outage(null);
	await eventually('the provider has sent it', async () => textsTo(phone).length === 1);
	await fixture.server.restart();
	await fixture.server.advance(60_000);
	expect((await afterTry(path)).text).toContain('may not arrive. Write your code down.');
	await expectOneMore(path, phone);
});

it('is offered once more if another process took it, and died', async () => {
	const phone = numberEnding('008');
	const path = await buy(phone);
	const { sql } = fixture;
	const until = clockOf(fixture).now() + 60_000;
	await sql.run(`create trigger taken after insert on jobs when new.kind = 'notifications.send'
		begin update jobs set lease_owner = 'the other', lease_until = ${until} where id = new.id; end`);
	await buyer().post(`${path}?/sms`);
	await sql.run('drop trigger taken');
	await sql.run("update notifications set status = 'sending', tries = 1 where status = 'queued'");
	await fixture.server.advance(61_000);
	expect((await afterTry(path)).text).toContain('may not arrive. Write your code down.');
	await expectOneMore(path, phone);
});

async function expectOneMore(path: string, phone: string): Promise<void> {
	const before = textsTo(phone).length;
	const press = () => buyer().post(`${path}?/sms`);
	expect(formOf(await buyer().get(path))).toBe(true);
	await Promise.all([press(), press()]);
	expect((await afterTry(path)).text).toContain('We sent your code to');
	await press();
	expect(textsTo(phone)).toHaveLength(before + 1);
}

it('is sent however many SMS others have had sent to the number', async () => {
	const phone = numberEnding('008');
	for (let count = 0; count < 20; count += 1) {
		await fixture.sql.run(
			`insert into notifications (channel, kind, key, address, status, price_minor, currency, created_at)
				values ('sms', 'earnings', ?, ?, 'sent', 35, 'UGX', ?)`,
			...[`other ${count}`, e164(phone), clockOf(fixture).now()]
		);
	}
	const path = await buy(phone);
	await buyer().post(`${path}?/sms`);
	expect((await afterTry(path)).text).toContain('We sent your code to');
	expect(textsTo(phone)).toHaveLength(1);
});

it('is not offered before the payment succeeded', async () => {
	const path = await buyAt(fixture.server.url, '/r/3', numberEnding('003'));
	const page = await buyer().get(path);
	expect(formOf(page)).toBe(false);
	const before = protocol.sent.length;
	await buyer().post(`${path}?/sms`);
	expect(await fixture.sql.count("select count(*) from notifications where status = 'queued'")).toBe(0);
	expect(protocol.sent).toHaveLength(before);
});

it('is not offered and not sent if the installation does not pay for it', async () => {
	const own = await startFixture({ database: 'sqlite', env: provider.environment });
	try {
		const path = await buyAt(own.server.url, '/r/3', numberEnding('008'));
		await untilTitled(own.server.url, path, /is paid until/);
		const person = browse(own.server.url);
		expect(formOf(await person.get(path))).toBe(false);
		await person.post(`${path}?/sms`);
		expect(await own.sql.count('select count(*) from notifications')).toBe(0);
	} finally {
		await own.stop();
	}
});
