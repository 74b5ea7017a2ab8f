import { actorOf, adminForm, adminPage, readReason } from '#lib/server/web/admin.ts';
import { type RequestEvent, fail } from '@sveltejs/kit';
import { money } from '#lib/format/text.ts';
import { toMajor } from '#lib/domain/money.ts';
import { findAccountByEmail, hasRole } from '#lib/server/accounts/accounts.ts';
import {
	type ImportedRouter,
	type RowRemark,
	importRouters,
	previewImport,
	readRouters
} from '#lib/server/routers/import.ts';
import { readPrice } from '#lib/server/routers/router-fields.ts';
import { readFields } from '#lib/server/web/form.ts';
import type { Visitor } from '#lib/server/web/sign-in/sign-in.ts';
import { Refused } from '#lib/server/platform/errors.ts';

export const load = adminPage(({ locals }) => ({ currency: locals.app.config.currency }));

export const actions = { default: adminForm(importFile) };

/** About 10,000 routers. Larger files are for the command line. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_REMARKS = 100;
const SAMPLE_ROWS = 10;

/** Previews a file of routers, or imports the previewed one. Good rows are imported, bad ones reported. */
async function importFile(event: RequestEvent, admin: Visitor) {
	const { app } = event.locals;
	const { currency, maxPrice } = app.config;
	const { field, file } = await readFields(event.request);
	const { note, problem: noteProblem } = readReason(field);
	const kept = { owner: field('owner').trim(), price: field('price').trim(), note };
	const refuse = (...problems: string[]) => fail(400, { ...kept, problems, preview: null, done: null });

	// Browsers send line ends as CR LF, so a previewed file comes back longer.
	const previewed = () => Buffer.from(field('csv', 2 * MAX_FILE_BYTES).replaceAll('\r\n', '\n'));
	const bytes = (await file('file')) ?? previewed();
	const owner = await findAccountByEmail(app, kept.owner.toLowerCase());
	const rules = { currency, maxPrice };
	const price = kept.price === '' ? null : readPrice(kept.price, rules);
	const problems = [
		owner && hasRole(owner.role, 'owner')
			? null
			: 'Owner: use the email address of an owner or administrator.',
		bytes.length > 0 ? null : 'File: choose a CSV file.',
		bytes.length > MAX_FILE_BYTES ? 'File: use at most 1 MB, or "routers import" on the command line.' : null,
		typeof price === 'string' ? `Price: ${price}.` : null,
		noteProblem
	].filter((problem) => problem !== null);
	if (!owner || typeof price === 'string' || problems.length > 0) return refuse(...problems);

	try {
		const remarks: RowRemark[] = [];
		const settings = { columns: null, ...rules, priceMinor: price };
		const read = await readRouters([bytes], settings, (remark) => void remarks.push(remark));
		const { routers, notes, badRows: bad } = read;
		if (field('do') === 'import') {
			const result = await importRouters(
				app,
				owner.id,
				routers,
				async (trx, { added, changed, unchanged }) => {
					// A repeated form changes nothing.
					if (added + changed === 0) return;
					await app.audit.record(trx, {
						...{ actor: actorOf(admin), action: 'routers.imported', reason: note },
						after: { owner_account_id: owner.id, added, changed, unchanged, skipped: bad }
					});
				}
			);
			return { ...kept, problems: [], preview: null, done: { ...result, bad } };
		}
		const preview = {
			...(await previewImport(app, owner.id, routers)),
			...{ bad, remarks: remarks.slice(0, MAX_REMARKS), hidden: Math.max(0, remarks.length - MAX_REMARKS) },
			notes: notes.slice(0, MAX_REMARKS),
			sample: routers.slice(0, SAMPLE_ROWS).map(sampleOf),
			csv: bytes.toString()
		};
		return { ...kept, problems: [], preview, done: null };
	} catch (problem) {
		if (!(problem instanceof Refused)) throw problem;
		const { fields, message } = problem as Refused<string>;
		return refuse(...(fields.length > 0 ? fields.map(({ reason }) => reason) : [message]));
	}
}

const sampleOf = ({ externalId, fallbackName, stated }: ImportedRouter) => ({
	id: externalId,
	name: stated.name ?? fallbackName,
	ssid: stated.ssid,
	price: money(toMajor(stated.price_minor, stated.currency), stated.currency)
});
