import { MIN_DURATION, NEW_HOURLY_MAX } from '#lib/domain/duration.ts';
import type { Base } from '../../base.ts';
import type { Tx } from '../../db/database.ts';
import { InputError, type FieldProblem } from '../../platform/errors.ts';
import { storedOffers } from '../offers.ts';
import type { ImportedRouter, ImportField } from './import-rows.ts';
import * as store from '../store.ts';

/** Few round trips, and far below the limit of parameters. */
const CHUNK_ROWS = 500;

interface ImportContext extends Pick<Base, 'database' | 'clock' | 'config'> {
	offers: {
		/** Returns why a router cannot hold a limit that it sells. */
		heldProblem(
			trx: Tx,
			router: store.RouterRow,
			before: { router: store.RouterRow }
		): Promise<string | null>;
	};
}

interface ImportResult {
	added: number;
	changed: number;
	unchanged: number;
}

/** Returns the result of an import that stores nothing. @throws InputError as `importRouters` does */
export async function previewImport(...[context, ownerId, routers]: Parameters<typeof importRouters>) {
	const finish = (_trx: Tx, result: ImportResult) => Promise.reject(new RolledBack(result));
	try {
		return await importRouters(context, ownerId, routers, finish);
	} catch (problem) {
		if (problem instanceof RolledBack) return problem.result;
		throw problem;
	}
}

class RolledBack extends Error {
	readonly result: ImportResult;

	constructor(result: ImportResult) {
		super('The import was a preview');
		this.result = result;
	}
}

/**
 * Stores all routers or none. Safe to repeat, and to run beside another import of the same routers.
 * @throws InputError if offers of known routers do not fit the new values
 * @param finish joins the transaction when all routers are stored
 */
export async function importRouters(
	context: ImportContext,
	ownerAccountId: number,
	routers: readonly ImportedRouter[],
	finish?: (trx: Tx, result: ImportResult) => Promise<void>
): Promise<ImportResult> {
	return context.database.transact(async (trx) => {
		await store.lockOwner(trx, ownerAccountId);
		const result = { added: 0, changed: 0, unchanged: 0 };
		for (let start = 0; start < routers.length; start += CHUNK_ROWS) {
			await importChunk(context, trx, ownerAccountId, routers.slice(start, start + CHUNK_ROWS), result);
		}
		await finish?.(trx, result);
		return result;
	});
}

/** @param result counts the routers */
async function importChunk(
	{ clock, config, offers }: ImportContext,
	trx: Tx,
	owner_account_id: number,
	routers: readonly ImportedRouter[],
	result: ImportResult
): Promise<void> {
	const ids = routers.map(({ externalId }) => externalId);
	const known = await store.byExternalIds(trx, owner_account_id, ids);
	const rows: store.NewRouter[] = [];
	const prices: store.PriceChange[] = [];
	const problems: FieldProblem[] = [];
	const now = clock.now();
	for (const router of routers) {
		const { externalId: external_id, stated } = router;
		const row = known.get(external_id);
		const isUnchanged = row && !differs(row, router);
		result[isUnchanged ? 'unchanged' : row ? 'changed' : 'added'] += 1;
		if (isUnchanged) continue;
		if (row) problems.push(...(await offerProblems(trx, row, router, offers)));
		if (row && row.price_minor !== stated.price_minor) {
			prices.push({ router: row, priceMinor: stated.price_minor, accountId: null, keyId: null, now });
		}
		const payment_methods = row?.payment_methods ?? JSON.stringify(config.paymentMethods);
		rows.push({ ...rowOf(router, row, now), external_id, owner_account_id, payment_methods });
	}
	if (problems.length > 0) throw new InputError(problems);
	if (rows.length > 0) await store.upsertImported(trx, rows);
	await store.recordPrices(trx, prices);
}

const differs = (known: store.RouterRow, { stated }: ImportedRouter): boolean =>
	store.STATED_COLUMNS.some((column) => stated[column] !== undefined && stated[column] !== known[column]);

/** Lists what the offers of a known router forbid. */
async function offerProblems(
	trx: Tx,
	known: store.RouterRow,
	router: ImportedRouter,
	{ heldProblem }: ImportContext['offers']
): Promise<FieldProblem[]> {
	const problems: FieldProblem[] = [];
	const report = (field: ImportField | 'currency', reason: string) => problems.push({ field, reason });
	const access = accessOf(router, known);
	const isKept = access.access_kind === known.access_kind;
	const problem = isKept ? null : await heldProblem(trx, { ...known, ...access }, { router: known });
	if (problem !== null) report('access_kind', problem);
	const { currency } = router.stated;
	if (storedOffers(known.offers).length > 0 && currency !== known.currency) {
		const fix = `delete them first ("offers set ${known.id}" with a header only)`;
		const prices = `its offers have prices in ${known.currency}, not ${currency}`;
		report('currency', `router ${known.id}: ${prices}; ${fix}`);
	}
	return problems;
}

type NamedRouter = Pick<ImportedRouter, 'stated' | 'fallbackName'>;

/** A known router keeps the columns that an import cannot set. */
export function rowOf(router: NamedRouter, known: store.RouterRow | undefined, now: number) {
	return {
		name: known?.name ?? router.fallbackName,
		address: known?.address ?? null,
		security: known?.security ?? 'wpa',
		status: known?.status ?? 'online',
		hidden: known?.hidden ?? 0,
		min_duration: MIN_DURATION,
		max_duration: NEW_HOURLY_MAX,
		...router.stated,
		...accessOf(router, known),
		created_at: now,
		updated_at: now,
		disabled_at: null
	};
}

/** An open network supports only sign-in at the hotspot, whatever the router had before. */
function accessOf({ stated }: NamedRouter, known: store.RouterRow | undefined) {
	const hasNoPassword = (stated.security ?? known?.security) === 'nopass';
	const kind = stated.access_kind ?? known?.access_kind ?? 'wpa_personal_per_client';
	return { access_kind: hasNoPassword ? ('portal_login' as const) : kind };
}
