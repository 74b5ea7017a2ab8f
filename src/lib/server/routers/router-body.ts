import { z } from 'zod';
import { toMajor } from '#lib/domain/money.ts';
import type { BrandBody, RouterBody } from '../api/contract/schemas.ts';
import { isoTime } from '../platform/clock.ts';
import type { RoutersContext } from './context.ts';
import type { RouterRow } from './store.ts';

export const sells = (row: RouterRow): boolean => row.disabled_at === null && isOpen(row);

/** True if none of its gateways responds (gateways/health), so nobody could connect. */
export const isUnresponsive = (row: RouterRow): boolean => row.unresponsive_since !== null;

const isOpen = (row: RouterRow): boolean =>
	row.status === 'online' &&
	!isUnresponsive(row) &&
	(row.access_kind !== 'shared_password' || row.network_password_sealed !== null);

export interface OwnedRouter extends RouterBody {
	ownerAccountId: number;
	disabled: boolean;
	networkPasswordKnown: boolean;
	maxDevices: number;
}

const methodList = z.array(z.string());

const MAX_METHOD_LISTS = 100;

export function paymentMethodsOf(
	{ operators, methodLists }: RoutersContext,
	{ payment_methods: text }: RouterRow
): string[] {
	const known = methodLists.get(text);
	if (known) return known;
	const methods = operators.methodsOf(methodList.parse(JSON.parse(text)));
	if (methodLists.size >= MAX_METHOD_LISTS) methodLists.clear();
	methodLists.set(text, methods);
	return methods;
}

/** @param distance metres from the searched position; null without one */
export const routerBody = (
	context: RoutersContext,
	row: RouterRow,
	distance: number | null,
	brand: BrandBody | null
): RouterBody => ({
	id: row.id,
	name: row.name,
	address: row.address,
	ssid: row.ssid,
	lat: row.lat,
	lon: row.lon,
	distance: distance === null ? null : Math.round(distance),
	price: toMajor(row.price_minor, row.currency),
	currency: row.currency,
	status: isOpen(row) ? 'online' : 'offline',
	payment_methods: paymentMethodsOf(context, row),
	min_duration: row.min_duration,
	max_duration: row.max_duration,
	security: row.security,
	access_kind: row.access_kind,
	brand,
	created_at: isoTime(row.created_at),
	updated_at: isoTime(row.updated_at)
});

export async function singleBody(context: RoutersContext, row: RouterRow): Promise<RouterBody> {
	const brands = await context.branding.ofRouters(context.database.db, [row]);
	return routerBody(context, row, null, brands.get(row.id) ?? null);
}

export const forOwner = (body: RouterBody, row: RouterRow): OwnedRouter => ({
	...body,
	ownerAccountId: row.owner_account_id,
	disabled: row.disabled_at !== null,
	networkPasswordKnown: row.network_password_sealed !== null,
	maxDevices: row.max_devices
});
