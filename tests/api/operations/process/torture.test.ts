/**
 * Three kills on each database (three processes on PostgreSQL), 25 with `npm test -- --all`, then also on PostgreSQL with a
 * synchronous standby.
 * `npm run torture -- --kills 1000` for more. A failure names the seed that makes the same storm again (the moments of
 * the kills differ a little).
 */
import process from 'node:process';
import { expect, it } from 'vitest';
import { isAll } from '../../../support/all.ts';
import { torture, TORTURED_DATABASES } from '../../../torture/torture.ts';
import { BOTH_DATABASES } from '../../../support/server/fixture.ts';

const KILLS = Number(process.env['AIRTILL_TORTURE_KILLS'] ?? (isAll ? 25 : 2));
/** Fixed: another seed with `npm run torture -- --seed N`. */
const seed = 1;
const SECONDS_PER_KILL = 12;
const LIMIT_MS = (900 + KILLS * SECONDS_PER_KILL) * 1000;

it.each(isAll ? TORTURED_DATABASES : BOTH_DATABASES)(
	'killed again and again under a storm of purchases on %s: nothing is lost, doubled or wrong',
	async (database) => {
		const { lost, doubled, wrong, ...figures } = await torture({
			kills: KILLS,
			database,
			operator: 'mtn',
			seed
		});
		console.log(JSON.stringify({ ...figures, database, seed }));
		expect([...lost, ...doubled, ...wrong].join('\n'), `seed ${seed}`).toBe('');
		expect(figures.taken, 'too little happened to mean anything').toBeGreaterThan(KILLS / 2);
	},
	LIMIT_MS
);
