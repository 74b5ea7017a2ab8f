/** A device at a console that Airtill calls: from the payment to the end of its time. */
import { describe, expect, it } from 'vitest';
import { purchaseToken } from '#lib/server/platform/secrets.ts';
import { numberEnding } from '../../../support/api/api.ts';
import {
	buyAtUniFi,
	newMac,
	UNIFI_KEY,
	UNIFI_ROUTER,
	unifiEntry,
	visitOf
} from '../../../support/gateways/consoles.ts';
import { sha256 } from '../../../support/gateways/opennds.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { buyHourOn } from '../../../support/pages/splash.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { ACTIONS, useAdmissions } from './use-admissions.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe.each(DATABASES)('a device at a console that Airtill calls, on %s', (database) => {
	const { fixture, unifi, row, becomes, admissions, noted, isIn, isOut, ...buyers } = useAdmissions(database);
	const { tried, payment, buyJoined, inside, end } = buyers;

	it('waits while the console is down, and its time starts when the console confirms it', async () => {
		unifi().fail('down');
		const bought = await buyJoined();
		expect(await row(bought.sessionId)).toMatchObject({ status: 'activating', starts_at: null });
		await tried(/sites/, 2);
		const healedAt = fixture().server.now();
		unifi().heal();
		await becomes(bought.sessionId, 'active');
		expect(unifi().isIn(bought.mac)).toBe(true);
		const { starts_at: startsAt, expires_at: expiresAt } = await row(bought.sessionId);
		expect(Number(startsAt)).toBeGreaterThanOrEqual(healedAt);
		expect(Number(expiresAt) - Number(startsAt)).toBe(HOUR);
		// Whole minutes, and never fewer than were paid.
		expect(unifi().minutesOf(bought.mac)).toBe(61);
		expect(await payment(bought.sessionId)).toMatchObject({ status: 'success', applied: 1 });
		expect(await admissions(bought.sessionId)).toMatchObject([
			{ state: 'in', mac: bought.mac, problem: null }
		]);
		expect(unifi().grantsOf(bought.mac)).toBe(1);
	});

	it.each([
		['unauthorised', 'The console rejected the API key.'],
		['error', 'The console responded with status 500.']
	] as const)('calls a console that answers %s again, and stores the reason', async (fault, reason) => {
		unifi().fail(fault);
		const bought = await buyJoined();
		await eventually('the reason is noted', async () => {
			const [row] = await admissions(bought.sessionId);
			return row?.['problem'] === reason;
		});
		expect(await fixture().sql.count('select count(*) from gateways where trouble = ?', reason)).toBe(1);
		expect(fixture().server.stdout()).not.toContain(UNIFI_KEY);
		unifi().heal();
		await becomes(bought.sessionId, 'active');
		await eventually(
			'the trouble is over',
			async () => (await fixture().sql.count('select count(*) from gateways where trouble is not null')) === 0
		);
	});

	it('is refunded after ten minutes, and disconnected if a lost answer let it in', async () => {
		const { server, sql, owner } = fixture();
		// Not the list of days, which moves on at midnight.
		const earned = async () =>
			((await owner.send('GET', '/v1/owner/earnings')).body as { total: unknown }).total;
		const before = await earned();
		unifi().fail('lost', { match: ACTIONS });
		const bought = await buyJoined();
		await isIn(bought);
		const again = tried(ACTIONS);
		await server.advance(9 * MINUTE);
		await again;
		expect((await row(bought.sessionId))['status']).toBe('activating');
		await server.advance(MINUTE + SECOND);
		await becomes(bought.sessionId, 'cancelled');
		unifi().heal();
		expect(await row(bought.sessionId)).toMatchObject({
			status_reason: 'provisioning_failed',
			starts_at: null
		});
		expect(await sql.all('select password_sealed from passes where id = ?', bought.sessionId)).toEqual([
			{ password_sealed: null }
		]);
		await isOut(bought);
		await eventually('the money is back', async () => {
			await server.advance(5 * SECOND);
			return (await payment(bought.sessionId))['status'] === 'refunded';
		});
		expect(await payment(bought.sessionId)).toMatchObject({
			applied: 0,
			refund_reason: 'provisioning_failed'
		});
		expect(
			await sql.count(
				'select count(*) from refunds where payment_id = ?',
				Number((await payment(bought.sessionId))['id'])
			)
		).toBe(1);
		expect(await earned()).toEqual(before);
		expect(unifi().isIn(bought.mac)).toBe(false);
	});

	it('is refunded if it came after its payment and the console never let it in', async () => {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const path = await buyHourOn(person, await person.get(`/r/${UNIFI_ROUTER}`));
		const id = await eventually('the time runs without a device', async () => {
			const [newest] = await sql.all('select id, status from sessions order by id desc limit 1');
			return newest?.['status'] === 'active' && Number(newest['id']);
		});
		await server.advance(20 * MINUTE);
		const mac = newMac();
		unifi().join(mac);
		unifi().fail('down');
		await person.get(`${path}?visit=${await visitOf(person, mac)}`);
		await eventually('it is wanted there', async () => (await admissions(id)).length > 0);
		await server.advance(9 * MINUTE);
		expect((await row(id))['status']).toBe('active');
		await server.advance(2 * MINUTE);
		await becomes(id, 'cancelled');
		expect(await row(id)).toMatchObject({ status_reason: 'provisioning_failed' });
		expect(await payment(id)).toMatchObject({ applied: 0, refund_reason: 'provisioning_failed' });
	});

	it('is connected if its first order is paid late, before the one that replaced it could cancel it', async () => {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const mac = newMac();
		unifi().join(mac);
		const path = await buyHourOn(person, await person.get(unifiEntry(mac)), numberEnding('004'));
		const first = sha256(path.slice('/s/'.length));
		await eventually('the operator has the payment', () =>
			sql.count("select count(*) from payments where status = 'pending' and submit_state = 'accepted'")
		);
		// As a crash between the new order and the cancellation of the old one leaves them.
		const next = sha256(purchaseToken());
		const copied =
			'router_id, duration, offer_id, payment_method, phone, amount_minor, currency, created_at, updated_at';
		await sql.run(
			`insert into purchases (${copied}, token_hash, replaces_session_id)
				select ${copied}, '${next}', session_id from purchases where token_hash = '${first}'`
		);
		await sql.run(
			`update captive_sessions set purchase_token_hash = '${next}' where purchase_token_hash = '${first}'`
		);
		await server.advance(10 * MINUTE);
		await server.advance(28 * MINUTE);
		await eventually('the device is in', async () => unifi().isIn(mac));
	});

	it('is disconnected within five seconds after its end', async () => {
		const bought = await inside();
		const left = Number((await row(bought.sessionId))['expires_at']) - fixture().server.now();
		await fixture().server.advance(left - 20 * SECOND);
		expect(unifi().isIn(bought.mac)).toBe(true);
		await fixture().server.advance(20 * SECOND);
		await isOut(bought);
		const late = fixture().server.now() - Number((await row(bought.sessionId))['expires_at']);
		expect(late).toBeGreaterThanOrEqual(0);
		expect(late).toBeLessThan(9 * SECOND);
		await becomes(bought.sessionId, 'expired');
	});

	it('is disconnected when its session is ended, also if the console is down at first', async () => {
		const bought = await inside();
		unifi().fail('down', { times: 2 });
		await end(bought.sessionId);
		await isOut(bought);
		await noted(bought.sessionId, 'out');
		expect(unifi().grantsOf(bought.mac)).toBe(1);
	});

	it('is disconnected when it comes back after its end', async () => {
		const bought = await inside();
		unifi().leave(bought.mac);
		const asked = tried(/clients/);
		await end(bought.sessionId);
		await asked;
		await eventually('the next try is noted', async () => {
			return (await admissions(bought.sessionId))[0]?.['check_at'] !== null;
		});
		unifi().join(bought.mac);
		await fixture().server.advance(MINUTE + SECOND);
		await isOut(bought);
	});

	it('is connected again when a console that has forgotten it redirects it', async () => {
		const bought = await inside();
		unifi().forget(bought.mac);
		await fixture().server.advance(MINUTE);
		await visitOf(bought.person, bought.mac);
		await isIn(bought);
		expect(unifi().minutesOf(bought.mac)).toBeLessThan(60);
		expect(await admissions(bought.sessionId)).toHaveLength(1);
		await noted(bought.sessionId, 'in');
		const online = await bought.person.get(bought.path);
		expect(online.text).toContain('You are online.');
		// Nobody is asked for a username or a password there, so none is shown.
		expect(online.text).not.toMatch(/username|password/i);
		// Its pass has ended: nothing to request again.
		await end(bought.sessionId);
		await isOut(bought);
		await visitOf(bought.person, bought.mac);
		await tried(/./, 0);
		expect(unifi().isIn(bought.mac)).toBe(false);
	});

	it('keeps a second device out, unless the router allows two', async () => {
		const { sql } = fixture();
		const first = await inside();
		const other = newMac();
		unifi().join(other);
		await first.person.raw(`${first.path}?visit=${await visitOf(first.person, other)}`);
		await tried(/./, 0);
		expect(unifi().isIn(other)).toBe(false);
		expect(await admissions(first.sessionId)).toHaveLength(1);

		await sql.run('update routers set max_devices = 2 where id = 3');
		const second = await inside();
		await sql.run('update routers set max_devices = 1 where id = 3');
		await second.person.raw(`${second.path}?visit=${await visitOf(second.person, other)}`);
		await isIn({ mac: other });
		await end(second.sessionId);
		await isOut(second);
		await isOut({ mac: other });
	});

	it('stays online until the last of its two passes is over', async () => {
		const first = await inside();
		const second = await buyAtUniFi(fixture(), first.mac);
		await becomes(second.sessionId, 'active');
		await end(first.sessionId);
		await noted(first.sessionId, 'out');
		await noted(second.sessionId, 'in');
		expect(unifi().isIn(first.mac)).toBe(true);
		await end(second.sessionId);
		await isOut(first);
	});

	it('gets its full time from a console whose clock is ten minutes off', async () => {
		unifi().clockOffsetMs = 10 * MINUTE;
		const bought = await inside();
		expect(unifi().minutesOf(bought.mac)).toBe(61);
	});
});
