/** Alerts: each event is sent once, to those who chose it, and no more than twelve messages a day. */
import { describe, expect, it } from 'vitest';
import { clockOf, later, minute, minutes, recordResponse } from '../../../support/gateways/watch.ts';
import { addRouter, newOwner } from '../../../support/pages/owners.ts';
import { DATABASES, runsAllOn } from '../../../support/server/fixture.ts';
import { newNumber, PAGE, useAlerts } from './use-alerts.ts';

const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, textsTo, mailsTo, untilSent, switchOn, newHotspot, fallSilent } = useAlerts(database);

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
		const page = await owner.get('/fr/owner/earnings?period=daily');
		const net = /Vos gains (UGX [\d ]+)/.exec(page.text.replaceAll('\u00a0', ' '))?.[1]?.trim();
		expect(alert).toMatch(/^Airtill: vos gains du /);
		expect(alert).toContain(`: ${net}. Paiements : 2.`);
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

	it('no alert is sent while its event is off, or the account is suspended', async () => {
		const { owner } = await newHotspot();
		const { owner: suspended } = await newHotspot();
		const [[typed, to], [other, otherTo]] = [newNumber(), newNumber()];
		await switchOn(owner, 'sms', typed, to, []);
		await switchOn(suspended, 'sms', other, otherTo, ['gateway']);
		await fixture().sql.run("update accounts set status = 'suspended' where id = ?", suspended.accountId);
		await fallSilent();
		expect([textsTo(to).length, textsTo(otherTo).length]).toEqual([1, 1]);
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
