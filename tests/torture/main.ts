/**
 * `npm run torture -- [--kills 50] [--database sqlite|postgres] [--operator mtn] [--seed N]`: the built server under a
 * storm of purchases, killed that many times. The last line is JSON; the exit code is 0 only when nothing was lost,
 * doubled or wrong.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endWithNpm, ensureBuilt, giveUp } from '../../src/cli/bootstrap.js';
import { OPERATORS } from './operators.ts';
import { torture, TORTURED_DATABASES, type TortureResult } from './torture.ts';

const MAX_PRINTED = 40;

const { values } = parseArgs({
	options: {
		kills: { type: 'string', default: '50' },
		database: { type: 'string', default: 'sqlite' },
		operator: { type: 'string', default: 'mtn' },
		seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) }
	}
});
const { operator } = values;
const database =
	TORTURED_DATABASES.find((name) => name === values.database) ??
	usage(`--database takes ${TORTURED_DATABASES.join(', ')}.`);
if (!Object.hasOwn(OPERATORS, operator)) usage(`--operator takes ${Object.keys(OPERATORS).join(', ')}.`);
const [kills, seed] = [wholeNumber('kills', values.kills), wholeNumber('seed', values.seed)];

endWithNpm();
await ensureBuilt().catch(giveUp);
console.log(`${kills} kills on ${database}, operator ${operator}; again with --seed ${seed}`);
const result = await torture({ kills, database, operator, seed, say: (line) => console.log(line) });
report(result);

function report({ lost, doubled, wrong, ...figures }: TortureResult): void {
	for (const [kind, list] of Object.entries({ lost, doubled, wrong })) {
		for (const one of list.slice(0, MAX_PRINTED)) console.log(`${kind}: ${one}`);
		if (list.length > MAX_PRINTED) console.log(`${kind}: and ${list.length - MAX_PRINTED} more`);
	}
	const { kills: done, purchases, ...others } = figures;
	const counts = { lost: lost.length, doubled: doubled.length, wrong: wrong.length };
	process.exitCode = counts.lost + counts.doubled + counts.wrong === 0 ? 0 : 1;
	console.log(JSON.stringify({ kills: done, purchases, ...counts, ...others, database, operator, seed }));
}

function wholeNumber(name: string, text: string): number {
	if (!/^\d{1,10}$/.test(text)) usage(`--${name} takes a whole number.`);
	return Number(text);
}

function usage(problem: string): never {
	console.error(
		`${problem}\nusage: npm run torture -- [--kills 50] [--database ${TORTURED_DATABASES.join('|')}] [--operator mtn] [--seed N]`
	);
	process.exit(2);
}
