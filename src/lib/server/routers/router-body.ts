import { z } from 'zod';
import { hasNetworkPassword, type AccessKind } from '#lib/domain/access-kind.ts';
import { isAnyAmount } from '#lib/domain/payment-methods/chargeable.ts';
import { toMajor } from '#lib/domain/money.ts';
import { nextOpen } from '#lib/domain/opening-hours.ts';
import type { BrandBody, RouterBody } from '../api/contract/schemas.ts';
import type { Config } from '../config/config.ts';
import { isoTime } from '../platform/clock.ts';
import type { RoutersContext } from './context.ts';
import { listedOffers, rulesOf } from './offers.ts';
import type { RouterRow } from './store.ts';

type Mode = Pick<Config, 'mode'>;
type Zone = Pick<Config, 'reportTimezone'>;
type OfflineReason = NonNullable<RouterBody['status_reason']>;

export const sells = (row: RouterRow, config: Mode & Zone, now: number): boolean =>
	offlineReason(row, config, now) === null;

/** Whether a late payment still buys time. Money that is paid does not wait for a verification. */
export const takesLatePayment = (row: RouterRow, zone: Zone, now: number): boolean =>
	closedReason(row, zone, now) === null;

/** True if none of its gateways responds (gateways/health), so nobody could connect. */
export const isUnresponsive = (row: RouterRow): boolean => row.unresponsive_since !== null;

/** True if nothing shows that a buyer would get access. A shared password needs no gateway; a sandbox sells tests. */
export const isUnverified = (row: RouterRow, { mode }: Mode): boolean =>
	mode === 'live' &&
	row.access_kind !== 'shared_password' &&
	row.responded_at === null &&
	row.access_confirmed_at === null;

export const isPaused = (row: RouterRow, now: number): boolean =>
	row.paused_until !== null && now < row.paused_until;

/** Returns when a closed router opens automatically; null if it is open, or if only a person can open it. */
export function opensAt(row: RouterRow, { reportTimezone }: Zone, now: number): number | null {
	if (!isInService(row)) return null;
	const from = isPaused(row, now) ? (row.paused_until ?? now) : now;
	const at = row.opening_hours === null ? from : nextOpen(row.opening_hours, from, reportTimezone);
	return at === now ? null : at;
}

const isInService = (row: RouterRow): boolean => row.status === 'online' && row.disabled_at === null;

const isOpen = (row: RouterRow, zone: Zone, now: number): boolean =>
	isInService(row) && opensAt(row, zone, now) === null;

export function offlineReason(row: RouterRow, config: Mode & Zone, now: number): OfflineReason | null {
	return isOpen(row, config, now) && isUnverified(row, config)
		? 'access_unverified'
		: closedReason(row, config, now);
}

function closedReason(
	row: RouterRow,
	zone: Zone,
	now: number
): Exclude<OfflineReason, 'access_unverified'> | null {
	if (!isOpen(row, zone, now)) return 'closed';
	if (isUnresponsive(row)) return 'gateway_unresponsive';
	return lacksNetworkPassword(row, row.access_kind) ? 'network_password_missing' : null;
}

/** True if buyers of this access kind would get the owner's password, and there is none. */
export const lacksNetworkPassword = (row: RouterRow, kind: AccessKind): boolean =>
	kind === 'shared_password' && row.network_password_sealed === null;

export type OwnedRouter = ReturnType<typeof forOwner>;

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

const paymentLimitsOf = ({ operators }: RoutersContext, methods: readonly string[], currency: string) =>
	methods.flatMap((method) => {
		const rule = operators.amountRule(method);
		const major = (minor: number) => toMajor(minor, currency);
		const limits = { step: major(rule.stepMinor), min: major(rule.minMinor), max: major(rule.maxMinor) };
		return isAnyAmount(rule) ? [] : [{ payment_method: method, ...limits }];
	});

/** Reads the amounts of equal methods once. For one response, because operators change them. */
function methodReader(context: RoutersContext) {
	const read = (methods: string[], currency: string) => ({
		...{ methods, currency, rules: rulesOf(context, methods) },
		limits: paymentLimitsOf(context, methods, currency)
	});
	let last: ReturnType<typeof read> | null = null;
	return (row: RouterRow) => {
		const methods = paymentMethodsOf(context, row);
		if (last?.methods !== methods || last.currency !== row.currency) last = read(methods, row.currency);
		return last;
	};
}

/** Returns a function that makes the bodies of one response. */
export function bodyMaker(context: RoutersContext) {
	const methodsOf = methodReader(context);
	const now = context.clock.now();
	/** @param distance metres from the searched position; null without one */
	return (row: RouterRow, distance: number | null, brand: BrandBody | null): RouterBody => {
		const reason = offlineReason(row, context.config, now);
		const { methods, rules, limits } = methodsOf(row);
		return {
			id: row.id,
			name: row.name,
			address: row.address,
			ssid: row.ssid,
			lat: row.lat,
			lon: row.lon,
			distance: distance === null ? null : Math.round(distance),
			price: toMajor(row.price_minor, row.currency),
			currency: row.currency,
			hourly: row.hourly === 1,
			max_devices: row.max_devices,
			offers: listedOffers(context, row, rules).bodies,
			status: reason === null ? 'online' : 'offline',
			status_reason: reason,
			payment_methods: methods,
			payment_limits: limits,
			min_duration: row.min_duration,
			max_duration: row.max_duration,
			security: row.security,
			access_kind: row.access_kind,
			network_password_provided:
				row.network_password_sealed !== null || !hasNetworkPassword(row.access_kind, row.security),
			brand,
			created_at: isoTime(row.created_at),
			updated_at: isoTime(row.updated_at)
		};
	};
}

export async function singleBody(context: RoutersContext, row: RouterRow): Promise<RouterBody> {
	const brands = await context.branding.ofRouters(context.database.db, [row]);
	return bodyMaker(context)(row, null, brands.get(row.id) ?? null);
}

export const forOwner = (body: RouterBody, row: RouterRow, config: Zone, now: number) => ({
	...body,
	ownerAccountId: row.owner_account_id,
	disabled: row.disabled_at !== null,
	/** False if an administrator disabled it. */
	canEnable: row.disabled_by_owner === 1,
	/** In ms since the epoch; null unless it is paused now. */
	pausedUntil: isPaused(row, now) ? row.paused_until : null,
	opensAt: opensAt(row, config, now),
	openingHours: row.opening_hours,
	networkPasswordKnown: row.network_password_sealed !== null,
	maxDevices: row.max_devices,
	/** Start of an outage of all its gateways, in ms since the epoch. */
	unresponsiveSince: row.unresponsive_since,
	/** True if a gateway has responded, an administrator has confirmed the access, or buyers get the known password. */
	givesAccess: !isUnverified(row, { mode: 'live' }) && !lacksNetworkPassword(row, row.access_kind)
});
