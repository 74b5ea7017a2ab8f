/**
 * An embedded database in which another program is writing (an import on the command line, a backup): its lock holds up
 * what writes, for as long as that waits, and nothing else.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf, type Api } from '../../../support/api/api.ts';
import { eventually, useFixture, itWithAll } from '../../../support/server/fixture.ts';

/** Answers come within a few milliseconds; this is for busy machines, and still less than the lock is held. */
const promptMs = 2_500;
/** As long as a write waits for its turn. */
const waitMs = 10_000;

describe('on sqlite, while another program holds the write lock', () => {
	const fixture = useFixture({ database: 'sqlite' });

	/** Takes the lock. @returns what frees it */
	function hold(): () => void {
		// The server may be writing just now.
		const writer = new DatabaseSync(fixture().server.databaseUrl.slice('file:'.length), { timeout: waitMs });
		writer.exec('begin immediate');
		return () => {
			writer.exec('rollback');
			writer.close();
		};
	}

	/** The slowest of the reads that are made one after the other until `over` is true, in milliseconds. */
	async function slowestRead(over: () => boolean): Promise<number> {
		const { api: known, server } = fixture();
		let slowest = 0;
		while (!over()) {
			// A new key's first use is noted in the database.
			const api = readers.pop() ?? known;
			for (const read of [
				() => api.getRouter(1),
				() => api.listRouters('lat=0.3476&lon=32.5825'),
				() => fetch(`${server.url}/r/3`).then((page) => page.text())
			]) {
				const started = performance.now();
				await read();
				slowest = Math.max(slowest, performance.now() - started);
			}
			await sleep(20);
		}
		return slowest;
	}

	/** With keys that were made before the lock, and not used. */
	const readers: Api[] = [];

	it('answers reads at once, and completes writes when the lock is free', async () => {
		const { api, newKey } = fixture();
		for (let count = 0; count < 20; count += 1) readers.push((await newKey()).api);
		// Its success comes after a second: jobs fall due while the lock is held.
		const paying = await api.createSession({ phone: numberEnding('123') });
		const payment = await api.pay(paying);
		const free = hold();
		let isFree = false;
		let isDone = false;
		const ordered = api.createSession(orderOf()).finally(() => (isDone = true));
		const reading = slowestRead(() => isFree);
		await sleep(4_000);
		expect(isDone).toBe(false);
		free();
		isFree = true;
		expect(await reading).toBeLessThan(promptMs);
		expect(await ordered).toMatchObject({ status: 'pending_payment' });
		await eventually('the payment settles', async () => {
			const { status } = await api.getPayment(payment.id);
			return status === 'success';
		});
	});

	itWithAll('answers a write with 500 after ten seconds, changes nothing and delays no reads', async () => {
		const { api, sql } = fixture();
		const before = await sql.count('select count(*) from sessions');
		const free = hold();
		try {
			const started = performance.now();
			let isOver = false;
			const refused = api
				.refused('500 internal_error', 'POST', '/v1/sessions', { body: orderOf() })
				.finally(() => (isOver = true));
			expect(await slowestRead(() => isOver)).toBeLessThan(promptMs);
			await refused;
			expect(performance.now() - started).toBeGreaterThan(waitMs - 500);
		} finally {
			free();
		}
		expect(await sql.count('select count(*) from sessions')).toBe(before);
		expect(await api.createSession()).toMatchObject({ status: 'pending_payment' });
	}, 30_000);
});
