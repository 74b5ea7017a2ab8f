import { checkStatement } from '#lib/server/billing/statement.ts';
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
