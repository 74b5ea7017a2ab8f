import type { App } from '#lib/server/app.ts';
import { configTable } from '#lib/server/config/config.ts';
import { resealTable } from '#lib/server/db/sealed/reseal.ts';
import { SEALED_TABLES } from '#lib/server/sealed-tables.ts';
import { defineCommand } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { COMMAND_LINE } from '../support/services.ts';

/** Rows between two lines of progress. */
const SHOWN_EVERY = 10_000;

export const settingCommands = [
	defineCommand({
		name: 'settings list',
		summary: 'List all settings: environment variables, defaults and meanings.',
		help: 'Works before the first start. A running Airtill shows the same at /docs/guides/configuration.',
		run: () => print(configTable())
	}),
	defineCommand({
		name: 'secrets rotate',
		summary: 'Seal stored passwords and secrets with a new AIRTILL_SECRET, while Airtill runs.',
		help: 'AIRTILL_SECRET is the new secret, and AIRTILL_SECRET_FALLBACK the old one; every process has both. The command says when the old one is no longer needed. If it is interrupted, run it again: it continues.',
		async run({ open }) {
			const app = await open();
			if (app.config.secretFallback === null) {
				throw new CommandError('AIRTILL_SECRET_FALLBACK is missing: set it to the old secret.');
			}
			const { resealed, unreadable } = await resealAll(app);
			const after = { rows: resealed, unreadable };
			await app.database.transact((trx) =>
				app.audit.record(trx, { actor: COMMAND_LINE, action: 'secrets.rotated', after })
			);
			if (unreadable > 0) {
				console.error(`Neither secret opens ${unreadable} values. They are unchanged.`);
			}
			if ((await resealAll(app)).resealed > 0) {
				throw new CommandError(
					'A process still seals with the old secret. Restart it with the new settings, then run this command again.'
				);
			}
			console.error(
				'The old secret is no longer needed: remove AIRTILL_SECRET_FALLBACK from the settings of every process, and restart them.'
			);
		}
	})
];

async function resealAll({ database, secrets }: App): Promise<{ resealed: number; unreadable: number }> {
	const total = { resealed: 0, unreadable: 0 };
	for (const table of SEALED_TABLES) {
		let count = 0;
		for await (const { resealed, unreadable } of resealTable(database, secrets, table)) {
			if (Math.floor((count + resealed) / SHOWN_EVERY) > Math.floor(count / SHOWN_EVERY)) {
				console.error(`${table.name}: ${count + resealed} so far`);
			}
			count += resealed;
			total.unreadable += unreadable;
		}
		if (count > 0) console.error(`${table.name}: ${count} rows`);
		total.resealed += count;
	}
	return total;
}
