/**
 * `npm run torture -- [--kills 50] [--database sqlite|postgres] [--operator mtn] [--seed N]`, or with `--database
 * citus --url DATABASE_URL` on a city that is new: the built server under a
 * storm of purchases, killed that many times. The last line is JSON; the exit code is 0 only when nothing was lost,
 * doubled or wrong.
 * `--payouts 200`: a storm of payouts to as many owners instead, over both databases and the operators that send money.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endWithNpm, ensureBuilt, giveUp } from '../../src/cli/bootstrap.js';
import { OPERATORS } from './operators.ts';
import { PAYOUT_DATABASES, PAYOUT_OPERATORS, torturePayouts } from './payouts.ts';
import { torture, TORTURED_DATABASES, type TortureResult } from './torture.ts';

const MAX_PRINTED = 40;

const { values } = parseArgs({
	options: {
		kills: { type: 'string', default: '50' },
		payouts: { type: 'string' },
		database: { type: 'string' },
		url: { type: 'string' },
		operator: { type: 'string' },
		seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) }
	}
});
const { operator = 'mtn', database: named = 'sqlite', url } = values;
if ((named === 'citus') !== (url !== undefined))
	usage('--database citus needs --url, and nothing else takes it.');
const database =
	TORTURED_DATABASES.find((name) => name === (url === undefined ? named : 'postgres')) ??
	usage(`--database takes ${TORTURED_DATABASES.join(', ')}, citus.`);
if (!Object.hasOwn(OPERATORS, operator)) usage(`--operator takes ${Object.keys(OPERATORS).join(', ')}.`);
const [kills, seed] = [wholeNumber('kills', values.kills), wholeNumber('seed', values.seed)];

endWithNpm();
await ensureBuilt().catch(giveUp);
if (values.payouts !== undefined) await stormOfPayouts(wholeNumber('payouts', values.payouts));
else await stormOfPurchases();

async function stormOfPurchases(): Promise<void> {
	console.log(`${kills} kills on ${named}, operator ${operator}; again with --seed ${seed}`);
	report(await torture({ kills, database, url, operator, seed, say: (line) => console.log(line) }));
}

async function stormOfPayouts(payouts: number): Promise<void> {
	const storms = PAYOUT_DATABASES.flatMap((on) =>
		PAYOUT_OPERATORS.map((by) => ({ database: on, operator: by }))
	)
		.filter((one) => (values.database ?? one.database) === one.database)
		.filter((one) => (values.operator ?? one.operator) === one.operator);
	const counts = { lost: 0, doubled: 0, wrong: 0 };
	const share = (count: number) => Math.ceil(count / storms.length);
	for (const one of storms) {
		const of = { payouts: share(payouts), kills: share(kills) };
		console.log(
			`${of.payouts} payouts, ${of.kills} kills on ${one.database}, ${one.operator}; --seed ${seed}`
		);
		const { paid, ...found } = await torturePayouts({ ...one, ...of, seed });
		console.log(`${paid} paid`);
		for (const [kind, list] of Object.entries(found) as [keyof typeof counts, string[]][]) {
			for (const text of list.slice(0, MAX_PRINTED)) console.log(`${kind}: ${text}`);
			counts[kind] += list.length;
		}
	}
	process.exitCode = counts.lost + counts.doubled + counts.wrong === 0 ? 0 : 1;
	console.log(JSON.stringify({ payouts, kills, ...counts }));
}

function report({ lost, doubled, wrong, ...figures }: TortureResult): void {
	for (const [kind, list] of Object.entries({ lost, doubled, wrong })) {
		for (const one of list.slice(0, MAX_PRINTED)) console.log(`${kind}: ${one}`);
		if (list.length > MAX_PRINTED) console.log(`${kind}: and ${list.length - MAX_PRINTED} more`);
	}
	const { kills: done, purchases, ...others } = figures;
	const counts = { lost: lost.length, doubled: doubled.length, wrong: wrong.length };
	process.exitCode = counts.lost + counts.doubled + counts.wrong === 0 ? 0 : 1;
	console.log(
		JSON.stringify({
			kills: done,
			purchases,
			...counts,
			...others,
			database: named,
			operator,
			seed
		})
	);
}

function wholeNumber(name: string, text: string): number {
	if (!/^\d{1,10}$/.test(text)) usage(`--${name} takes a whole number.`);
	return Number(text);
}

function usage(problem: string): never {
	console.error(
		`${problem}\nusage: npm run torture -- [--kills 50] [--database ${TORTURED_DATABASES.join('|')}|citus --url URL] [--operator mtn] [--payouts 200] [--seed N]`
	);
	process.exit(2);
}
