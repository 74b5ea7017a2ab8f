/** Messages to owners and administrators: which come, and to which addresses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulators/simulator.ts';
import { africasTalkingProtocol } from '../../simulators/sms.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import {
	advanceToNoon,
	later,
	minute,
	minutes,
	recordResponse,
	clockOf
} from '../../support/gateways/watch.ts';
import { addRouter, newOwner, type Owner, alertOf } from '../../support/pages/owners.ts';
import {
	eventually,
	startFixture,
	type Fixture,
	DATABASES,
	runsAllOn
} from '../../support/server/fixture.ts';

/** A server with a simulated SMS provider, and owners whose addresses get alerts. */

const PAGE = '/owner/settings?/alerts';

let numbers = 0;
/** [as typed, as sent] @param end of the number */
function newNumber(end = '000'): [string, string] {
	const digits = `77${String(1000 + (numbers += 1))}${end}`;
	return [`0${digits}`, `+256${digits}`];
}

/** For the tests of one `describe`, or of a file. */
function useAlerts(database: string) {
	const protocol = africasTalkingProtocol();
	let started: Fixture;
	const fixture = () => started;
	let provider: Simulator;
	const startProvider = async (port?: number) => {
		provider = await startSimulator(protocol, port === undefined ? {} : { port });
	};

	beforeAll(async () => {
		await startProvider();
		started = await startFixture({
			database,
			env: { ...provider.environment, SMS_PRICE: '35' }
		});
		await advanceToNoon(started);
	});
	afterAll(async () => {
		await started?.stop();
		await provider?.stop();
	});

	const textsTo = (to: string) => protocol.sent.filter((sms) => sms.to === to).map(({ text }) => text);
	/** Bodies of the mails to an address, as a sandbox without a mail server prints them. */
	const mailsTo = (to: string) =>
		fixture()
			.server.stdout()
			.split(`\nTo: ${to}\n`)
			.slice(1)
			.map((mail) => mail.split('\n---')[0] ?? '')
			.filter((mail) => /Airtill/.test(mail) && !mail.includes('/password?'));

	/** Waits until every queued message was tried. */
	const untilSent = () =>
		eventually('no message waits', async () => {
			const waiting = "select count(*) from notifications where status in ('queued', 'sending')";
			return (await fixture().sql.count(waiting)) === 0;
		});

	const newestCode = async (channel: string, to: string): Promise<string> => {
		await untilSent();
		const all = channel === 'sms' ? textsTo(to) : mailsTo(to);
		return /\b\d{6}\b/.exec(all.at(-1) ?? '')?.[0] ?? 'none';
	};

	/** Enters an address and its code, and chooses the events. */
	async function switchOn(
		owner: Owner,
		channel: 'email' | 'sms',
		typed: string,
		to: string,
		event: string[]
	) {
		await owner.post(PAGE, { do: 'address', channel, address: typed });
		// Pasted whole.
		const code = `Airtill: ${await newestCode(channel, to)} is the code`;
		await owner.post(PAGE, { do: 'confirm', channel, code });
		await owner.post(PAGE, { do: 'events', channel, event });
	}

	/** An owner with a router and a gateway that has responded. */
	async function newHotspot(): Promise<{ owner: Owner; router: number; gateway: string }> {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId, { name: 'Blue Cafe' });
		const more = ['--level', '4'];
		const { name } = await registerGateway(fixture().server, 'opennds', {
			...{ loginHost: '10.0.0.1', router, more }
		});
		await recordResponse(fixture(), [name]);
		return { owner, router, gateway: name };
	}

	/** Three minutes without a response, then the time until an outage causes an alert. */
	async function fallSilent(): Promise<void> {
		await minutes(fixture(), 4);
		await later(fixture(), 10 * minute);
		await untilSent();
	}

	return {
		...{ fixture, provider: () => provider, startProvider },
		...{ textsTo, mailsTo, untilSent, newestCode, switchOn, newHotspot, fallSilent }
	};
}

const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, textsTo, mailsTo, untilSent, newestCode, switchOn, newHotspot, fallSilent } =
		useAlerts(database);

	it('an unresponsive gateway causes one alert per channel, and one when it responds again', async () => {
		const { owner, gateway } = await newHotspot();
		const [typed, to] = newNumber();
		const email = `alerts-${owner.email}`;
		await switchOn(owner, 'sms', typed, to, ['gateway']);
		await switchOn(owner, 'email', email, email, ['gateway']);
		await recordResponse(fixture(), [gateway]);
		await minutes(fixture(), 4);
		// Not at the first missed checks.
		expect(textsTo(to)).toHaveLength(1);
		await later(fixture(), 10 * minute);
		await later(fixture(), hour);
		await untilSent();
		const silent = expect.stringContaining(`Blue Cafe (${gateway})`);
		expect(textsTo(to).slice(1)).toEqual([silent]);
		expect(textsTo(to)[1]).toMatch(/^Airtill: no response since .*Check power and internet\.$/);
		expect(mailsTo(email).slice(1)).toEqual([silent]);
		await recordResponse(fixture(), [gateway]);
		await minutes(fixture(), 2, [gateway]);
		await untilSent();
		expect(textsTo(to).slice(2)).toEqual([`Airtill: responds again: Blue Cafe (${gateway}).`]);
		expect(mailsTo(email)).toHaveLength(3);
		expect((await owner.get(PAGE)).text).toContain('SMS this month: 3. Cost: UGX 105.');
		// The log names neither number nor text.
		expect(fixture().server.stderr()).not.toContain(to.slice(1));
	});

	it('the earnings of the day before come once in the morning and equal the page, in the owner’s language', async () => {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId);
		const [typed, to] = newNumber();
		await switchOn(owner, 'sms', typed, to, ['earnings']);
		await owner.post(`/fr${PAGE}`, { do: 'events', channel: 'sms', event: 'earnings' });
		// Noon in Kampala, so that the sales are of one day and no morning has begun.
		const now = clockOf(fixture()).now();
		const untilNoon = (Math.ceil((now - 9 * hour) / (24 * hour)) * 24 + 9) * hour - now;
		await later(fixture(), untilNoon);
		await untilSent();
		const before = textsTo(to).length;
		await fixture().buy({ router_id: router });
		await fixture().buy({ router_id: router });
		await later(fixture(), 18 * hour);
		await untilSent();
		expect(textsTo(to)).toHaveLength(before);
		await later(fixture(), hour + minute);
		await later(fixture(), 2 * hour);
		await untilSent();
		const [alert, ...more] = textsTo(to).slice(before);
		expect(more).toEqual([]);
		// The day before, in Kampala.
		const soldOn = new Date(clockOf(fixture()).now() - 21 * hour).toISOString().slice(0, 10);
		const page = await owner.get(`/fr/owner/money?period=daily&day=${soldOn}`);
		const net = /Vos gains (UGX [\d ]+)/.exec(page.text.replaceAll('\u00a0', ' '))?.[1]?.trim();
		expect(alert).toMatch(/^Airtill: vos gains du /);
		expect(alert).toContain(`: ${net}. Paiements : 2.`);
	});

	it('come for everything once an address is confirmed, until the owner chooses', async () => {
		const owner = await newOwner(fixture());
		const [typed, to] = newNumber();
		const ticked = async () =>
			[...(await owner.get(PAGE)).html.matchAll(/name="event" value="(\w+)" checked/g)].map(
				([, name]) => name
			);
		await owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
		await owner.post(PAGE, { do: 'confirm', channel: 'sms', code: await newestCode('sms', to) });
		expect(await ticked()).toEqual(['gateway', 'earnings']);
		await owner.post(PAGE, { do: 'events', channel: 'sms', event: 'earnings' });
		// A new number keeps the choice.
		const [next, nextTo] = newNumber();
		await owner.post(PAGE, { do: 'address', channel: 'sms', address: next });
		await owner.post(PAGE, { do: 'confirm', channel: 'sms', code: await newestCode('sms', nextTo) });
		expect(await ticked()).toEqual(['earnings']);
	});

	it('payments that wait for a decision cause one alert, for administrators only', async () => {
		const { owner } = await newHotspot();
		const admin = await newOwner(fixture(), 'admin');
		const [[typed, to], [adminTyped, adminTo]] = [newNumber(), newNumber()];
		await switchOn(owner, 'sms', typed, to, ['reviews']);
		await switchOn(admin, 'sms', adminTyped, adminTo, ['reviews']);
		const choice = 'Payments that wait for a decision';
		expect((await owner.get(PAGE)).text).not.toContain(choice);
		expect((await admin.get(PAGE)).text).toContain(choice);
		const { payment } = await fixture().buy({ router_id: await addRouter(fixture(), owner.accountId) });
		const open = (reason: string) =>
			fixture().sql.run(
				'insert into reviews (payment_id, subject, reason, opened_at) values (?, ?, ?, ?)',
				...[payment.id, `payment ${payment.id}`, reason, clockOf(fixture()).now()]
			);
		const alerts = () => textsTo(adminTo).slice(1);
		await open('amount_mismatch');
		await later(fixture(), 11 * hour);
		await untilSent();
		expect(alerts()).toEqual([]);
		await later(fixture(), 2 * hour);
		await later(fixture(), 30 * hour);
		await untilSent();
		expect(alerts()).toEqual(['Airtill: payments that have waited 12 hours for your decision: 1.']);
		await open('refund_refused');
		await later(fixture(), 13 * hour);
		await untilSent();
		expect(alerts()[1]).toMatch(/decision: 2\.$/);
		expect(textsTo(to)).toHaveLength(1);
	});

	if (!runsAllOn(database)) return;

	it('an alert that cannot be written does not stop those of others', async () => {
		const [bad, good] = [await newHotspot(), await newHotspot()];
		const [[badTyped, badTo], [typed, to]] = [newNumber(), newNumber()];
		await switchOn(bad.owner, 'sms', badTyped, badTo, ['gateway']);
		await switchOn(good.owner, 'sms', typed, to, ['gateway']);
		await recordResponse(fixture(), [bad.gateway, good.gateway]);
		await minutes(fixture(), 4);
		// Dates begin later. The longest outage comes first.
		const set = 'update gateways set unresponsive_since = ? where name = ?';
		await fixture().sql.run(set, -9e15, bad.gateway);
		await later(fixture(), 10 * minute);
		await untilSent();
		expect(textsTo(badTo)).toHaveLength(1);
		expect(textsTo(to)).toEqual([expect.anything(), expect.stringContaining('Blue Cafe')]);
		await fixture().sql.run(set, null, bad.gateway);
	});

	it('no alert is sent while its event is off, after its address is removed, or to a suspended account', async () => {
		const numbers = [newNumber(), newNumber(), newNumber()];
		const owners: Owner[] = [];
		for (const [index, [typed, to]] of numbers.entries()) {
			const { owner } = await newHotspot();
			await switchOn(owner, 'sms', typed, to, index === 0 ? [] : ['gateway']);
			owners.push(owner);
		}
		await owners[1]?.post(PAGE, { do: 'remove', channel: 'sms' });
		await fixture().sql.run(
			"update accounts set status = 'suspended' where id = ?",
			owners[2]?.accountId ?? 0
		);
		await fallSilent();
		expect(numbers.map(([, to]) => textsTo(to).length)).toEqual([1, 1, 1]);
	});

	it('an owner gets at most twelve messages a day', async () => {
		const { owner } = await newHotspot();
		const [typed, to] = newNumber();
		await switchOn(owner, 'sms', typed, to, ['gateway']);
		for (let count = 0; count < 11; count += 1) {
			await fixture().sql.run(
				`insert into notifications (account_id, channel, kind, key, address, status, price_minor, currency, created_at)
					values (?, 'sms', 'earnings', ?, ?, 'sent', 35, 'UGX', ?)`,
				...[owner.accountId, `cap ${owner.accountId} ${count}`, to, clockOf(fixture()).now()]
			);
		}
		await fallSilent();
		expect(textsTo(to)).toHaveLength(1);
		await later(fixture(), 24 * hour);
		await untilSent();
		expect(textsTo(to)).toHaveLength(2);
	});
});

/** Addresses for alerts: nothing goes to one before its code was entered, and an SMS is never repeated. */
describe('addresses', () => {
	const { fixture, provider, startProvider, ...alerts } = useAlerts('sqlite');
	const { textsTo, untilSent, newestCode, switchOn, newHotspot, fallSilent } = alerts;

	it('an address gets its code and nothing else before the code was entered', async () => {
		const { owner } = await newHotspot();
		const [before, beforeTo] = newNumber();
		const [typed, to] = newNumber();
		// A change of the address keeps the events, and needs a code again.
		await switchOn(owner, 'sms', before, beforeTo, ['gateway']);
		const asked = await owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
		expect(asked.text).toContain('Code that we sent to');
		await owner.post(PAGE, { do: 'events', channel: 'sms', event: ['gateway', 'earnings'] });
		const code = await newestCode('sms', to);
		const wrong = code === '000000' ? '000001' : '000000';
		const refused = await owner.post(PAGE, { do: 'confirm', channel: 'sms', code: wrong });
		expect([refused.status, alertOf(refused)]).toEqual([
			400,
			'This code does not work. Check it, or request a new one.'
		]);
		await fallSilent();
		expect(textsTo(to)).toEqual([expect.stringContaining(code)]);
		expect(textsTo(beforeTo)).toHaveLength(1);
		// The code is older than 15 minutes by now.
		await later(fixture(), 2 * minute);
		expect((await owner.post(PAGE, { do: 'confirm', channel: 'sms', code })).status).toBe(400);
	});

	it('a code that was guessed five times does not work any more, and three codes a day are sent', async () => {
		const owner = await newOwner(fixture());
		const [typed, to] = newNumber();
		const ask = () => owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
		await ask();
		const code = await newestCode('sms', to);
		const guess = (tried: string) => owner.post(PAGE, { do: 'confirm', channel: 'sms', code: tried });
		for (let count = 0; count < 5; count += 1) await guess(code === '111111' ? '222222' : '111111');
		expect((await guess(code)).status).toBe(400);
		await ask();
		await ask();
		expect(alertOf(await ask())).toBe('You have asked for too many codes. Try again tomorrow.');
		await untilSent();
		expect(textsTo(to)).toHaveLength(3);
	});

	describe('a provider that fails', () => {
		beforeAll(() => advanceToNoon(fixture()));

		const stateOf = async (to: string) => {
			const rows = await fixture().sql.all('select * from notifications where address = ? order by id', to);
			return rows.map(({ status, tries, content_sealed }) => [status, Number(tries), content_sealed]);
		};

		it.each(['refuse', 'error'] as const)('is not asked again after a lost answer (%s)', async (outage) => {
			const owner = await newOwner(fixture());
			const [typed, to] = newNumber();
			const requests = () => provider().requests.filter(({ body }) => body.includes(to.slice(1))).length;
			provider().outage(outage);
			await owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
			await untilSent();
			provider().outage(null);
			await later(fixture(), hour);
			expect([requests(), await stateOf(to)]).toEqual([1, [['uncertain', 1, null]]]);
			// It may have cost money.
			expect((await owner.get(PAGE)).text).toContain('SMS this month: 1. Cost: UGX 35.');
		});

		it('is asked again while nothing answers at its address', async () => {
			const owner = await newOwner(fixture());
			const [typed, to] = newNumber();
			const port = Number(new URL(provider().url).port);
			await provider().stop();
			await owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
			await eventually('it was tried', async () =>
				(await stateOf(to)).some(([status, tries]) => status === 'queued' && tries === 1)
			);
			await startProvider(port);
			await later(fixture(), minute);
			await untilSent();
			expect(await stateOf(to)).toEqual([['sent', 2, null]]);
		});

		it('is not asked again if it refuses the number', async () => {
			const owner = await newOwner(fixture());
			const [typed, to] = newNumber('403');
			await owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
			await untilSent();
			await later(fixture(), hour);
			expect(await stateOf(to)).toEqual([['failed', 1, null]]);
			expect((await owner.get(PAGE)).text).toContain('SMS this month: 0. Cost: UGX 0.');
			expect(fixture().server.stderr()).toContain('403 InvalidPhoneNumber');
		});

		it('is not asked again if the process died during the request', async () => {
			const owner = await newOwner(fixture());
			const [typed, to] = newNumber();
			provider().outage('hang');
			await owner.post(PAGE, { do: 'address', channel: 'sms', address: typed });
			await eventually('the provider is asked', async () =>
				provider().requests.some(({ body }) => body.includes(to.slice(1)))
			);
			await fixture().server.kill();
			provider().outage(null);
			await fixture().server.restart();
			await fixture().server.advance(minute);
			await untilSent();
			expect(await stateOf(to)).toEqual([['uncertain', 1, null]]);
		});
	});

	it('only its owner sees and changes a channel', async () => {
		const owner = await newOwner(fixture());
		const [typed, to] = newNumber();
		await switchOn(owner, 'sms', typed, to, ['gateway']);
		const stored = () =>
			fixture().sql.all('select * from alert_channels where account_id = ?', owner.accountId);
		const before = await stored();
		const forms = [
			{ do: 'address', channel: 'sms', address: '0772123456' },
			{ do: 'confirm', channel: 'sms', code: '123456' },
			{ do: 'events', channel: 'sms', event: 'earnings' },
			{ do: 'remove', channel: 'sms' }
		];
		const other = await newOwner(fixture());
		expect((await other.get(PAGE)).text).not.toContain(typed.slice(0, 4));
		for (const fields of forms) await other.post(PAGE, fields);
		expect(await stored()).toEqual(before);
	});
});
