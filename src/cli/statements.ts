import { checkBooks, postMissing } from '#lib/server/billing/books.ts';
import { type Verified, readSubject, verifyStatement } from '#lib/server/billing/signed-statement.ts';
import { checkStatement } from '#lib/server/billing/statement.ts';
import { refuse } from '#lib/server/platform/errors.ts';
import { SANDBOX_STATEMENT } from '#lib/server/billing/operators/sandbox.ts';
import { defineCommand, SPAN_OPTIONS, spanOfDays } from './command.ts';
import { print, readInput, refuseUsage } from './terminal.ts';

export const checkStatementFile = defineCommand({
	name: 'statement check',
	args: ['FILE.csv'],
	summary: "Compare an operator's list of settled payments with ours.",
	help: 'FILE.csv is the file (UTF-8) that you download from the operator. Differences become reviews (/admin/reviews); the list itself settles nothing. Run it daily. Payments of the last hour of the last day are not reported as missing. The last line printed is JSON. The exit code is 1 if there are differences.',
	options: {
		operator: { value: 'ID', help: 'the operator, for example mtn', isNeeded: true },
		...SPAN_OPTIONS
	},
	async run({ args: [file], values: { operator, ...days }, config, folder, open }) {
		const { operators, mode } = config();
		const span = spanOfDays(days, config());
		const known = [...operators, ...(mode === 'sandbox' ? [SANDBOX_STATEMENT] : [])];
		const columns = known.find(({ id }) => id === operator)?.statement;
		if (!columns) {
			const ids = known.map(({ id }) => id).join(', ');
			throw refuseUsage(`--operator is one of ${ids}, not "${operator}".`);
		}
		const bytes = await readInput(folder, file);
		const result = await checkStatement(await open(), { operator, columns, bytes, ...span });
		const differences = result.unknown + result.notPaid + result.amount + result.missing;
		if (differences > 0) console.error(`${differences} differences; decide them at /admin/reviews.`);
		await print(JSON.stringify(result));
		return differences > 0 ? 1 : 0;
	}
});

const VERIFIED = {
	valid: 'The statement is as it was signed.',
	changed: 'The statement was changed after it was signed.',
	unsigned: 'The file is not a signed statement, or its end is missing.',
	'unknown-key':
		'Another key signed the statement: of another installation, or of this one before it got a new secret.'
} satisfies Record<Verified, string>;

export const verifyStatementFile = defineCommand({
	name: 'statement verify',
	args: ['FILE.csv'],
	summary: 'Check that nobody has changed the signed statement of an owner.',
	help: 'FILE.csv is the signed file of a month from the owner pages, as it was downloaded: a spreadsheet that saves it again changes it. It can also be the text of the code on a printed statement: compare the printed line with the page, of which the code signs only the email address, the days and the sums. The key is at /.well-known/airtill-statement-key of the installation that made it. Needs no installation: no database and no settings are read. The exit code is 1 unless the statement is as it was signed.',
	options: { key: { value: 'FILE.pem', help: 'the public key', isNeeded: true } },
	async run({ args: [file], values: { key }, folder }) {
		const keys = (await readInput(folder, key)).toString('utf8');
		if (!keys.includes('BEGIN PUBLIC KEY')) throw refuse(`${key} holds no public key (PEM).`);
		const bytes = await readInput(folder, file);
		const result = verifyStatement(bytes, keys);
		await print(VERIFIED[result]);
		if (result === 'valid') await print(readSubject(bytes));
		return result === 'valid' ? 0 : 1;
	}
});

const MAX_PROBLEMS = 50;

export const checkTheBooks = defineCommand({
	name: 'books check',
	summary: 'Recompute the books from payments, refunds, vouchers and payouts, and compare.',
	help: 'Compares each entry and each total of the books with the rows that they follow from, and prints what differs. Works while Airtill runs. The last line printed is JSON. The exit code is 1 if there are differences. Entries are never changed: a row that somebody changed by hand must be changed back.',
	options: { post: { help: 'first post the entries that are missing, for example after a partial restore' } },
	async run({ values: { post }, open }) {
		const { database } = await open();
		const posted = post ? await postMissing(database) : 0;
		const { entries, problems } = await checkBooks(database);
		for (const problem of problems.slice(0, MAX_PROBLEMS)) await print(problem);
		if (problems.length > MAX_PROBLEMS) await print(`And ${problems.length - MAX_PROBLEMS} more.`);
		await print(JSON.stringify({ entries, posted, problems: problems.length }));
		return problems.length > 0 ? 1 : 0;
	}
});
