/**
 * Random interleavings of the pairs of transactions that touch one session, payment, pass or refund
 * (tests/model/interleavings.ts): after each, no invariant is broken. AIRTILL_INTERLEAVINGS plays so many, from random seeds;
 * AIRTILL_MODEL_SEED begins with a world again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { expect, inject, it } from 'vitest';
import { openInterleavings, takeTurns } from '../../../model/interleavings.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';

const { AIRTILL_INTERLEAVINGS: wanted, AIRTILL_MODEL_SEED: seed } = process.env;
const COUNT = Number(wanted ?? 160);
const PAIRS = 16;
/** At a time: they wait for the database. */
const WORLDS = 8;
const SAY_EVERY = 10_000;

it(
	'no order of the statements of two transactions about one purchase breaks a rule',
	async () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'airtill-interleavings-'));
		const url = new URL(await createDatabaseOn(inject('postgresUrl')));
		// No crash is played.
		url.searchParams.set('options', '-c synchronous_commit=off');
		const model = await openInterleavings(url.href, folder);
		const undo = takeTurns();
		let [next, played, turns, said] = [Number(seed ?? (wanted ? Date.now() % 1e9 : 1)), 0, 0, 0];
		try {
			const playWorlds = async () => {
				while (played < COUNT) {
					played += PAIRS;
					next += 1;
					const changes = await model.play(next, PAIRS);
					turns += changes;
					if (played - said < SAY_EVERY) continue;
					said = played;
					console.log(`${played} interleavings, ${(turns / played).toFixed(1)} changes of the turn in each`);
				}
			};
			await Promise.all(Array.from({ length: WORLDS }, playWorlds));
			console.log(`${played} interleavings, ${(turns / played).toFixed(1)} changes of the turn in each`);
			expect(turns).toBeGreaterThan(played);
			expect((await model.checkBooks()).problems).toEqual([]);
		} finally {
			undo();
			await model.stop();
			rmSync(folder, { recursive: true, force: true });
		}
	},
	120_000 + COUNT * 500
);
