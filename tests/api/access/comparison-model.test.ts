/** Random orders of up to 12 events against a gateway with its own books: two rounds later it lets in exactly what was paid. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openModel, orderOf, type Model } from '../../model/gateway.ts';
import { isAll } from '../../support/all.ts';
import { createDatabaseOn } from '../../support/database/postgres.ts';
import { DATABASES } from '../../support/server/fixture.ts';

/** AIRTILL_MODEL_ORDERS plays that many on each database, AIRTILL_MODEL_SEED begins with another one. */
const MOST = isAll ? { sqlite: 500, postgres: 100 } : { sqlite: 100, postgres: 100 };
const FIRST = Number(process.env['AIRTILL_MODEL_SEED'] ?? 1);
const MS_PER_ORDER = 10_000;

describe.each(DATABASES)('on %s', (database) => {
	const orders = Number(process.env['AIRTILL_MODEL_ORDERS'] ?? MOST[database]);
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-comparison-'));
	let model: Model;
	beforeAll(async () => {
		const url = database === 'sqlite' ? `file:${folder}/a.db` : await createDatabaseOn(inject('postgresUrl'));
		model = await openModel(url, folder);
	});
	afterAll(async () => {
		await model.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	it(
		`${orders} orders of events`,
		async () => {
			for (let seed = FIRST; seed < FIRST + orders; seed += 1) {
				const events = orderOf(seed);
				expect(await model.play(events, seed), `order ${seed}: ${events.join(', ')}`).toEqual([]);
			}
		},
		orders * MS_PER_ORDER
	);
});
