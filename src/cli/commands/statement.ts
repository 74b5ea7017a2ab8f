import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDate, spanOfDates } from '#lib/format/calendar.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import { SANDBOX_STATEMENT } from '#lib/server/billing/operators/sandbox/sandbox.ts';
import { StatementError } from '#lib/server/billing/statements/statement.ts';
import { UsageError, parseCommand, positionals, required, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { withApp } from '../support/services.ts';

export const checkStatementFile: Command = {
	name: 'statement check',
	parameters: 'FILE.csv --operator ID --from DATE [--to DATE]',
	summary: "Compare an operator's list of settled payments with ours.",
	help: [
		'Differences become questions (see "review list"); the list itself settles nothing. Run it daily.',
		'Payments of the last hour of the last day are not reported as missing.',
		'',
		'  --operator ID  the operator, for example mtn',
		'  --from DATE    first day that the list covers, in the time zone of REPORT_TIMEZONE, e.g. 2026-11-20',
		'  --to DATE      last day; default: the same',
		'',
		'The file is the CSV (UTF-8) that you download from the operator. The last line printed is JSON. The exit code is',
		'1 if there are differences.'
	].join('\n'),
	async run(args, { env, folder }) {
		const { values, positionals: words } = parseCommand(args, {
			operator: { type: 'string' },
			from: { type: 'string' },
			to: { type: 'string' }
		});
		const [name = ''] = positionals(words, ['FILE.csv']);
		const operator = required(values.operator, '--operator');
		const from = required(values.from, '--from');
		const to = values.to ?? from;
		for (const [option, date] of [
			['--from', from],
			['--to', to]
		] as const) {
			if (!isDate(date)) throw new UsageError(`${option} is a date such as 2026-11-20, not "${date}".`);
		}
		if (to < from) throw new UsageError('--to is before --from.');
		const config = loadConfig(env);
		const known = [...config.operators, ...(config.mode === 'sandbox' ? [SANDBOX_STATEMENT] : [])];
		const found = known.find(({ id }) => id === operator);
		if (!found) {
			throw new UsageError(
				`--operator is one of ${known.map(({ id }) => id).join(', ')}, not "${operator}".`
			);
		}
		const bytes = await readFile(resolve(folder, name));
		return withApp(config, async (app) => {
			const span = spanOfDates(from, to, config.reportTimezone);
			const file = { operator, columns: found.statement, bytes, ...span };
			try {
				const result = await app.payments.checkStatement(file);
				const differences = result.unknown + result.notPaid + result.amount + result.missing;
				if (differences > 0) console.error(`${differences} differences; see "review list".`);
				await print(JSON.stringify(result));
				return differences > 0 ? 1 : 0;
			} catch (error) {
				if (error instanceof StatementError) throw new CommandError(error.message);
				throw error;
			}
		});
	}
};
