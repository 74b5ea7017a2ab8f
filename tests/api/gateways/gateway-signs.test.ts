/** A gateway that does not poll is unresponsive without expected reports, or without an answer to a request of ours. */
import { describe, expect, it } from 'vitest';
import { startNas } from '../../simulators/radius-nas.ts';
import {
	connectRouterOs,
	connectUniFi,
	ROUTER_OS_ROUTER,
	UNIFI_ROUTER
} from '../../support/gateways/consoles.ts';
import { registerGateway, registerRadius } from '../../support/gateways/gateways.ts';
import { connect, isQuiet, recordResponse, later, minute, minutes } from '../../support/gateways/watch.ts';
import { DATABASES, useNewFixtures } from '../../support/server/fixture.ts';

const ROUTER = 3;
const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useNewFixtures({ database });

	/** CoovaChilli, which reports connections. */
	const reporting = async () =>
		(await registerGateway(fixture().server, 'coova', { loginHost: '10.1.0.1', router: ROUTER })).name;

	const status = async (router = ROUTER) => (await fixture().api.getRouter(router)).status;

	describe('a gateway that reports connections', () => {
		it('is unresponsive when reports of a connection that goes on stop coming', async () => {
			const name = await reporting();
			await connect(fixture(), { gateway: name });
			await minutes(fixture(), 2, [name]);
			await minutes(fixture(), 3);
			expect(await status()).toBe('offline');
			// Nobody knows that it is well, until it says something.
			await minutes(fixture(), 2);
			expect(await status()).toBe('offline');
			await recordResponse(fixture(), [name]);
			expect(await status()).toBe('online');
		});

		it('is sold again when its connections are as good as over: a Stop that was lost costs minutes', async () => {
			const name = await reporting();
			const connection = await connect(fixture(), { gateway: name, endsInMs: 7 * 24 * hour });
			await minutes(fixture(), 2, [name]);
			await minutes(fixture(), 3);
			expect(await status()).toBe('offline');
			// Of the fifteen minutes after its last report five are over.
			await fixture().sql.run(
				'update connections set seen_at = seen_at - ?, started_at = started_at - ? where id = ?',
				...[8 * minute, 8 * minute, connection]
			);
			await minutes(fixture(), 1);
			expect(await status()).toBe('offline');
			await minutes(fixture(), 2);
			expect(await status()).toBe('online');
			await minutes(fixture(), 4);
			expect(await status()).toBe('online');
		});

		it('is asked whether it is there, where it can be reached', async () => {
			const secret = 'stand-in-nas-secret-0123456789';
			const nas = await startNas(secret);
			try {
				const { name } = await registerRadius(fixture(), {
					kind: 'mikrotik',
					access: 'portal_login',
					router: ROUTER,
					nas: `127.0.0.1:${nas.port}`,
					radiusSecret: secret
				});
				await connect(fixture(), { gateway: name, endsInMs: 7 * 24 * hour });
				await minutes(fixture(), 1, [name]);
				nas.manner = 'silent';
				await minutes(fixture(), 4);
				expect(await status()).toBe('offline');
				expect(nas.asked.length).toBeGreaterThan(0);
				// It knows no such connection: it is there.
				nas.manner = 503;
				await minutes(fixture(), 1);
				expect(await status()).toBe('online');
				// One that has ended connections for us and does not answer is gone, however long nobody reports.
				nas.manner = 'silent';
				await minutes(fixture(), 4);
				expect(await status()).toBe('offline');
				await fixture().sql.run(
					`update connections set disconnect_state = 'done', seen_at = started_at + 60000`
				);
				await fixture().sql.run(
					'update connections set started_at = started_at - ?, seen_at = seen_at - ?',
					hour,
					hour
				);
				await minutes(fixture(), 2);
				expect(await status()).toBe('offline');
				nas.manner = 503;
				await minutes(fixture(), 1);
				expect(await status()).toBe('online');
			} finally {
				await nas.stop();
			}
		});

		it('has nothing to say when nobody is online', async () => {
			const name = await reporting();
			await connect(fixture(), { gateway: name, stoppedAgoMs: 0 });
			// Its end was told and is over, though the gateway’s last word of it was lost.
			await connect(fixture(), { gateway: name, endsInMs: 0 });
			// It was told no end.
			await connect(fixture(), { gateway: name, endsInMs: null });
			// It was never reported on after its start: the gateway sends no reports in between.
			await connect(fixture(), { gateway: name, startedAgoMs: 0 });
			await minutes(fixture(), 1, [name]);
			await minutes(fixture(), 5);
			expect(await status()).toBe('online');
		});
	});

	it.each([
		['RouterOS', connectRouterOs, ROUTER_OS_ROUTER, 'hotspot'],
		['a UniFi console', connectUniFi, UNIFI_ROUTER, 'console']
	] as const)(
		'%s, which is told of guests, is asked each minute how it is',
		async (_, start, router, name) => {
			// The check of the server's start would find it while it answers.
			await isQuiet(fixture());
			const api = await start(fixture());
			const noted = async () => {
				const [row] = await fixture().sql.all('select * from gateways where name = ?', name);
				return row ?? {};
			};
			try {
				// One that has never answered lets nobody in either.
				api.fail('down');
				await later(fixture(), minute);
				await minutes(fixture(), 4);
				expect(await status(router)).toBe('offline');
				expect(await noted()).toMatchObject({
					seen_at: null,
					unresponsive_since: expect.any(Number) as unknown
				});
				expect((await noted())['trouble']).not.toBeNull();

				api.heal();
				await minutes(fixture(), 1);
				expect(await status(router)).toBe('online');
				expect(await noted()).toMatchObject({ unresponsive_since: null, trouble: null });
				expect((await noted())['seen_at']).not.toBeNull();
				// Its clock stands still here while ours was moved on by six minutes.
				expect(Math.abs(Number((await noted())['clock_offset_ms']) + 6 * minute)).toBeLessThan(30_000);

				api.fail('down');
				await minutes(fixture(), 2);
				expect(await status(router)).toBe('online');
				await minutes(fixture(), 1);
				expect(await status(router)).toBe('offline');
				api.heal();
				await minutes(fixture(), 1);
				expect(await status(router)).toBe('online');
			} finally {
				await api.stop();
			}
		}
	);
});
