/** Addresses for alerts: nothing goes to one before its code was entered, and an SMS is never repeated. */
import { describe, expect, it } from 'vitest';
import { later, minute } from '../../../support/gateways/watch.ts';
import { alertOf, newOwner } from '../../../support/pages/owners.ts';
import { eventually } from '../../../support/server/fixture.ts';
import { newNumber, PAGE, useAlerts } from './use-alerts.ts';

const hour = 60 * minute;

const { fixture, provider, startProvider, textsTo, untilSent, newestCode, switchOn, newHotspot, fallSilent } =
	useAlerts('sqlite');

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

it('a removed address gets nothing', async () => {
	const { owner } = await newHotspot();
	const [typed, to] = newNumber();
	await switchOn(owner, 'sms', typed, to, ['gateway']);
	await owner.post(PAGE, { do: 'remove', channel: 'sms' });
	await fallSilent();
	expect(textsTo(to)).toHaveLength(1);
});
