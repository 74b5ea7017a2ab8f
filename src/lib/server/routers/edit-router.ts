import { endOfDay } from '#lib/domain/time/opening-hours.ts';
import type { Author } from '../audit/audit.ts';
import type { Tx } from '../db/database.ts';
import type { RoutersContext } from './context.ts';
import { InputError, type FieldProblem } from '../platform/errors.ts';
import { rowOf } from './import/import-routers.ts';
import { existingRouter } from './read-routers.ts';
import { isPaused } from './router-state.ts';
import { nameAfter, readRouterFields, type RouterTexts, type StatedFields } from './router-fields.ts';
import * as store from './store.ts';

/** @throws InputError with every wrong field */
function read(texts: RouterTexts, { maxPrice }: RoutersContext['config'], currency: string): StatedFields {
	const problems: FieldProblem[] = [];
	const report = (field: string, reason: string) => void problems.push({ field, reason });
	const refuseCut = (field: string, how: string) => report(field, `too long: it would be ${how}`);
	const fields = readRouterFields(texts, { currency, maxPrice }, report, refuseCut);
	if (fields.name === '') report('name', 'give a name, or leave it out');
	if (problems.length > 0) throw new InputError(problems);
	return fields;
}

/** Sets columns, and records their old and new values in the audit log. */
async function setColumns(
	{ audit, clock }: RoutersContext,
	trx: Tx,
	row: store.RouterRow,
	{ by, note, action, to }: Author & { action: string; to: Partial<store.RouterRow> }
): Promise<void> {
	await store.update(trx, row.id, { ...to, updated_at: clock.now() });
	const before = Object.fromEntries(Object.entries(row).filter(([name]) => name in to));
	await audit.record(trx, {
		...{ actor: by, action, reason: note },
		before: { router_id: row.id, ...before },
		after: { router_id: row.id, ...to }
	});
}

/** Bounds the routers that an owner has added on the owner pages and not connected. */
export const MAX_UNCONNECTED_ROUTERS = 20;

/**
 * Adds one router of an owner.
 * @param formKey of the owner's form: the same form adds one router, however often it is sent. The router is disabled
 * until its owner enables it, so that no buyer finds it half ready
 * @throws InputError with every wrong field; field `limit` if the owner has MAX_UNCONNECTED_ROUTERS
 */
export function addRouter(
	context: RoutersContext,
	ownerAccountId: number,
	texts: RouterTexts,
	{ by, note }: Author,
	formKey: string
): Promise<store.RouterRow> {
	const { audit, clock, config, database } = context;
	const { currency, paymentMethods } = config;
	const {
		ssid = '',
		lat = 0,
		lon = 0,
		price_minor = 0,
		...others
	} = read({ ssid: '', lat: '', lon: '', price: '', ...texts }, config, currency);
	const stated = { ssid, lat, lon, price_minor, currency, ...others };
	const externalId = store.FORM_ID + formKey;
	return database.transact(async (trx) => {
		const added = await addedBefore(trx, ownerAccountId, externalId);
		if (added) return added;
		const now = clock.now();
		const disabled = { disabled_at: now, disabled_by_owner: 1 };
		const row = await store.insert(trx, {
			...rowOf({ stated, fallbackName: nameAfter(others.address, ssid) }, undefined, now),
			...disabled,
			external_id: externalId,
			owner_account_id: ownerAccountId,
			payment_methods: JSON.stringify(paymentMethods)
		});
		const after = { router_id: row.id, owner_account_id: ownerAccountId, ...stated, ...disabled };
		await audit.record(trx, { ...{ actor: by, action: 'router.added', reason: note }, before: {}, after });
		return row;
	});
}

async function addedBefore(
	trx: Tx,
	ownerAccountId: number,
	externalId: string
): Promise<store.RouterRow | undefined> {
	await store.lockOwner(trx, ownerAccountId);
	const added = (await store.byExternalIds(trx, ownerAccountId, [externalId])).get(externalId);
	if (added || (await store.countUnconnected(trx, ownerAccountId)) < MAX_UNCONNECTED_ROUTERS) return added;
	const reason = `${MAX_UNCONNECTED_ROUTERS} routers of this account are not connected; connect one first`;
	throw new InputError([{ field: 'limit', reason }]);
}

/**
 * Changes the given fields. The price and the access have rules of their own: set-price.ts, passes/access-kinds.ts.
 * @returns the names of the changed fields
 * @throws AppError `router_not_found`
 * @throws InputError with every wrong field
 */
export function changeRouter(
	context: RoutersContext,
	id: number,
	texts: Omit<RouterTexts, 'access_kind' | 'price' | 'security' | 'status'>,
	author: Author
): Promise<string[]> {
	const { config, database } = context;
	return database.transact(async (trx) => {
		const row = await existingRouter(trx, id);
		const fields = read(texts, config, row.currency);
		const old = new Map<string, unknown>(Object.entries(row));
		const changed = Object.entries(fields).filter(([name, value]) => old.get(name) !== value);
		if (changed.length === 0) return [];
		const to = Object.fromEntries(changed) as StatedFields;
		await setColumns(context, trx, row, { ...author, action: 'router.changed', to });
		return changed.map(([name]) => name);
	});
}

/** Columns with a time that an administrator sets or clears, and the actions in the audit log. */
const MARKS = {
	/** Off sale and out of all lists. Running time and payments on their way do not change; later money is refunded. */
	disabled_at: ['router.disabled', 'router.enabled'],
	/** Buyers get access without a gateway of Airtill. */
	access_confirmed_at: ['router.access_confirmed', 'router.access_withdrawn']
} as const;

/**
 * @param isOwner false for an administrator, who can take over what an owner has disabled
 * @returns false if an administrator has disabled the router, so that its owner cannot enable it
 * @throws AppError `router_not_found`
 */
export function markRouter(
	context: RoutersContext,
	id: number,
	column: keyof typeof MARKS,
	{ isSet, isOwner = false, ...author }: Author & { isSet: boolean; isOwner?: boolean }
): Promise<boolean> {
	const { clock, database } = context;
	return database.transact(async (trx) => {
		const row = await existingRouter(trx, id);
		const isDisabling = column === 'disabled_at' && isSet;
		const takesOver = isDisabling && !isOwner && row.disabled_by_owner === 1;
		if ((row[column] !== null) === isSet && !takesOver) return true;
		if (isOwner && !isSet && row.disabled_by_owner === 0) return false;
		const to = {
			[column]: isSet ? clock.now() : null,
			...(column === 'disabled_at' && { disabled_by_owner: isDisabling && isOwner ? 1 : 0 })
		};
		await setColumns(context, trx, row, { ...author, action: MARKS[column][isSet ? 0 : 1], to });
		return true;
	});
}

/**
 * Closes a router for the rest of its business day, or opens it again. It stays in all lists; running time and payments
 * on their way do not change; later money is refunded.
 * @throws AppError `router_not_found`
 */
export function pauseRouter(
	context: RoutersContext,
	id: number,
	{ isPaused: wanted, ...author }: Author & { isPaused: boolean }
): Promise<void> {
	const { clock, config, database } = context;
	return database.transact(async (trx) => {
		const row = await existingRouter(trx, id);
		const now = clock.now();
		const paused_until = wanted ? endOfDay(row.opening_hours, now, config.reportTimezone) : null;
		if (paused_until === (isPaused(row, now) ? row.paused_until : null)) return;
		const action = wanted ? 'router.paused' : 'router.reopened';
		await setColumns(context, trx, row, { ...author, action, to: { paused_until } });
	});
}
