import { loadConfig } from '#lib/server/config/config.ts';
import { SANDBOX_STATEMENT } from '#lib/server/billing/operators/sandbox/sandbox.ts';
import { UsageError, defineCommand, required, spanOfDays } from '../support/command.ts';
import { readInput } from '../support/files.ts';
import { print } from '../support/output.ts';

export const checkStatementFile = defineCommand({
	name: 'statement check',
	parameters: 'FILE.csv --operator ID --from DATE [--to DATE]',
	summary: "Compare an operator's list of settled payments with ours.",
	help: [
		'Differences become reviews (see "review list"); the list itself settles nothing. Run it daily.',
		'Payments of the last hour of the last day are not reported as missing.',
		'',
		'  --operator ID  the operator, for example mtn',
		'  --from DATE    first day that the list covers, in the time zone of REPORT_TIMEZONE, e.g. 2026-11-20',
		'  --to DATE      last day; default: the same',
		'',
		'The file is the CSV (UTF-8) that you download from the operator. The last line printed is JSON. The exit code is',
		'1 if there are differences.'
	].join('\n'),
	options: { operator: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' } },
	async run({ argument, values, env, folder, open }) {
		const operator = required(values.operator, '--operator');
		const { operators, mode, reportTimezone } = loadConfig(env);
		const span = spanOfDays(values, reportTimezone);
		const known = [...operators, ...(mode === 'sandbox' ? [SANDBOX_STATEMENT] : [])];
		const columns = known.find(({ id }) => id === operator)?.statement;
		if (!columns) {
			const ids = known.map(({ id }) => id).join(', ');
			throw new UsageError(`--operator is one of ${ids}, not "${operator}".`);
		}
		const bytes = await readInput(folder, argument);
		const result = await (await open()).payments.checkStatement({ operator, columns, bytes, ...span });
		const differences = result.unknown + result.notPaid + result.amount + result.missing;
		if (differences > 0) console.error(`${differences} differences; see "review list".`);
		await print(JSON.stringify(result));
		return differences > 0 ? 1 : 0;
	}
});
