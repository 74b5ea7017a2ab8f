import { z } from 'zod';
import { hasNetworkPassword } from '#lib/domain/access-kind.ts';
import { isAnyAmount } from '#lib/domain/payment-methods/chargeable.ts';
import { toMajor } from '#lib/domain/money.ts';
import type { RouterBody } from '../contract/router.ts';
import type { Config } from '../config/config.ts';
import { isoTime } from '../platform/clock.ts';
import type { RoutersContext } from './context.ts';
import { listedOffers, rulesOf } from './offers.ts';
import { isPaused, isUnverified, lacksNetworkPassword, offlineReason, opensAt } from './router-state.ts';
import type { RouterRow } from './store.ts';

type Zone = Pick<Config, 'reportTimezone'>;

export type OwnedRouter = ReturnType<typeof forOwner>;

const methodList = z.array(z.string());

export const paymentMethodsOf = (
	{ operators }: Pick<RoutersContext, 'operators'>,
	{ payment_methods: text }: RouterRow
): string[] => operators.methodsOf(methodList.parse(JSON.parse(text)));

const paymentLimitsOf = ({ operators }: RoutersContext, methods: readonly string[], currency: string) =>
	methods.flatMap((method) => {
		const rule = operators.amountRule(method);
		const major = (minor: number) => toMajor(minor, currency);
		const limits = { step: major(rule.stepMinor), min: major(rule.minMinor), max: major(rule.maxMinor) };
		return isAnyAmount(rule) ? [] : [{ payment_method: method, ...limits }];
	});

/** Reads equal methods and their amounts once. For one response, because operators change them. */
function methodReader(context: RoutersContext) {
	const read = (row: RouterRow) => {
		const methods = paymentMethodsOf(context, row);
		const limits = paymentLimitsOf(context, methods, row.currency);
		return { methods, rules: rulesOf(context, methods), limits };
	};
	const known = new Map<string, ReturnType<typeof read>>();
	return (row: RouterRow) => {
		const key = row.currency + row.payment_methods;
		const found = known.get(key) ?? read(row);
		known.set(key, found);
		return found;
	};
}

/**
 * Makes the bodies of one response, each beside its row.
 * @param rows with `distance`, in metres from the searched position, if there is one
 */
export async function bodiesOf<Row extends RouterRow & { distance?: number }>(
	context: RoutersContext,
	rows: readonly Row[]
): Promise<[Row, RouterBody][]> {
	const brands = await context.branding.ofOwners(context.database.db, rows);
	const methodsOf = methodReader(context);
	const now = context.clock.now();
	return rows.map((row) => {
		const reason = offlineReason(row, context.config, now);
		const { methods, rules, limits } = methodsOf(row);
		const body: RouterBody = {
			id: row.id,
			name: row.name,
			address: row.address,
			ssid: row.ssid,
			hidden: row.hidden === 1,
			lat: row.lat,
			lon: row.lon,
			distance: row.distance === undefined ? null : Math.round(row.distance),
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
			brand: brands.get(row.owner_account_id) ?? null,
			created_at: isoTime(row.created_at),
			updated_at: isoTime(row.updated_at)
		};
		return [row, body];
	});
}

export async function singleBody(context: RoutersContext, row: RouterRow): Promise<RouterBody> {
	const [[, body] = []] = await bodiesOf(context, [row]);
	if (!body) throw new Error('A row has a body');
	return body;
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
	/** Start of an outage of all its gateways, in ms since the epoch. */
	unresponsiveSince: row.unresponsive_since,
	/** True if a gateway has responded, an administrator has confirmed the access, or buyers get the known password. */
	givesAccess: !isUnverified(row, { mode: 'live' }) && !lacksNetworkPassword(row, row.access_kind)
});
