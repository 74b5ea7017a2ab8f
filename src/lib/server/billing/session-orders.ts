import { priceForSeconds } from '#lib/domain/money.ts';
import { type Limit, cheapestUnlimited, fitsPass, limitsOf } from '#lib/domain/offers.ts';
import { findPaymentMethod } from '#lib/domain/payment-methods.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { durationProblem, durationSeconds, hourlyProblem } from '#lib/domain/time.ts';
import type { Caller } from '../accounts/accounts.ts';
import type { Base } from '../base.ts';
import type { SessionBody, SessionCreationBody } from '../contract/session.ts';
import type { Queries, Tx } from '../db/database.ts';
import { type NewestFirst, findNewestFirst, insertRow, withoutNulls } from '../db/queries.ts';
import { sellsNowhere } from '../gateways/gateways.ts';
import { type PassRow, findPassOrThrow, findPasses, openPassword } from '../passes.ts';
import { Refused, validationFailed } from '../platform/errors.ts';
import type { Offer } from '../routers/offer-list.ts';
import {
	type RouterRow,
	type Routers,
	findRouterOrThrow,
	findVisibleRouter,
	listPaymentMethods,
	listRouterOffers,
	openNetworkPassword,
	sells
} from '../routers/routers.ts';
import { operatorForPayment } from './operators/registry.ts';
import {
	type HeldSession,
	type RememberBody,
	SESSION_END_JOB,
	type SessionRow,
	type SessionStatus,
	type SessionsContext,
	describeSession,
	expireIfOver,
	findExtraTimeEnd,
	findHeldPass,
	findSession,
	findVisibleSession,
	isDue,
	lockCurrentSession,
	lockSession,
	recordEvent,
	sessionNotFound
} from './sessions.ts';

/**
 * Sessions as the API orders and reads them. An order fixes the price and the limits, whatever the router sells later.
 */

/** Orders time; charges nothing. @throws Refused, see api/sessions.ts */
export const orderSession = (
	context: SessionsContext,
	caller: Caller,
	order: SessionCreationBody,
	remember?: RememberBody<SessionBody>
): Promise<SessionBody> =>
	context.database.transact(async (trx) => {
		const { clock, config, gateways, jobs, routers, operators } = context;
		const router = await findVisibleRouter(trx, caller, order.router_id);
		const extended = await findExtendedSession(context, trx, caller, order);
		const methods = listPaymentMethods(routers, router);
		const { phone, method } = checkOrder(context, order, router, methods);
		if (!extended && (await sellsNowhere(gateways, trx, router.id))) {
			throw new Refused('router_unavailable', 'The access points of the router are claimed by two accounts.');
		}
		const held = extended && findHeldPass(extended);
		const pass = held ? await findPassOrThrow(trx, held) : null;
		const terms = findTerms(routers, router, order, pass);
		const { currency } = router;
		const amountMinor = terms.amount_minor;
		operatorForPayment(operators, { method, phone, amountMinor, currency }, methods);
		const now = clock.now();
		const created = await insertRow(trx, 'sessions', {
			account_id: caller.accountId,
			router_id: router.id,
			status: 'pending_payment',
			duration: order.duration,
			duration_seconds: durationSeconds(order.duration),
			payment_method: method,
			phone,
			...terms,
			currency,
			ssid: router.ssid,
			access_kind: router.access_kind,
			...(extended && { extends_session_id: extended.id, pass_id: extended.pass_id }),
			payment_due_at: now + config.sessionPaymentMs,
			created_at: now,
			updated_at: now
		});
		await recordEvent(context, trx, 'session.created', created);
		await jobs.schedule(trx, SESSION_END_JOB, created.id, created.payment_due_at);
		const body = describeSession(created, pass, now, null);
		await remember?.(trx, body);
		return body;
	});

/** Only the buyer may extend a session: added time has the same password. */
export async function findExtendedSession(
	{ clock }: Pick<SessionsContext, 'clock'>,
	trx: Tx,
	caller: Caller,
	{
		extends_session_id: id,
		router_id: routerId
	}: Pick<SessionCreationBody, 'extends_session_id' | 'router_id'>
): Promise<HeldSession | undefined> {
	if (id === undefined) return undefined;
	const row = await lockSession(trx, id);
	if (!row || row.account_id !== caller.accountId) throw sessionNotFound();
	const { status } = expireIfOver(row, clock.now());
	if (status === 'active' && row.router_id === routerId) return row;
	const why =
		status === 'active'
			? `The session is on router ${row.router_id}.`
			: `The session is ${status}; order time without extends_session_id.`;
	throw new Refused('session_not_extendable', why, { extensions: { session_status: status } });
}

/** Checks an order; reports the first problem. Returns the payer's number in E.164, and the method. @throws Refused */
function checkOrder(
	{ clock, config }: SessionsContext,
	order: SessionCreationBody,
	router: RouterRow,
	paymentMethods: string[]
): { phone: string; method: string } {
	if (!sells(router, config, clock.now())) {
		throw new Refused('router_unavailable', 'The router is offline and cannot be sold now.');
	}
	const method = findPaymentMethod(order.payment_method, paymentMethods);
	if (method === null) {
		throw new Refused('payment_method_not_supported', `The router accepts ${paymentMethods.join(', ')}.`, {
			extensions: { payment_methods: paymentMethods }
		});
	}
	return { phone: parsePayerNumber(order.phone, config.defaultRegion), method };
}

/** @throws Refused `invalid_phone` */
export function parsePayerNumber(text: string, region: string): string {
	const phone = parseMobile(text, region);
	if (phone === null) {
		throw new Refused('invalid_phone', 'Use a mobile number with its country code, e.g. "+256772123456".');
	}
	return phone;
}

/** The price and the limits that a session keeps. */
type Terms = Pick<SessionRow, 'amount_minor' | 'offer_id' | 'offer_name' | Limit>;

/**
 * Finds what an order buys: the offer in `offer_id`; without one, the cheapest available offer of exactly this duration
 * that adds no limit; otherwise the time at the hourly price.
 * @param pass the pass that gets the time; null for a new one
 * @throws Refused `duration_not_allowed | duration_not_offered | offer_not_available | validation_failed`
 */
function findTerms(
	routers: Routers,
	router: RouterRow,
	order: Pick<SessionCreationBody, 'duration' | 'offer_id'>,
	pass: PassRow | null
): Terms {
	const seconds = durationSeconds(order.duration);
	const refuseFor = (problem: string | null) => {
		if (problem === null) return;
		const { min_duration, max_duration } = router;
		throw new Refused('duration_not_allowed', problem, { extensions: { min_duration, max_duration } });
	};
	refuseFor(durationProblem(router, order.duration));
	const listed = listRouterOffers(routers, router);
	const onSale = listed.filter(({ available }) => available).map(({ offer }) => offer);
	const offer =
		order.offer_id === undefined
			? cheapestUnlimited(
					onSale.filter((one) => pass === null || fitsPass(one, pass)),
					{ seconds, maxDevices: router.max_devices },
					({ price_minor: price }) => price
				)
			: findOffer(onSale, order.offer_id, seconds);
	if (offer === null && router.hourly === 0) {
		const durations = onSale.map(({ duration }) => duration).join(', ') || 'none is on sale now';
		throw new Refused('duration_not_offered', `This router sells only its offers: ${durations}.`, {
			extensions: { offers: listed.map(({ body }) => body) }
		});
	}
	if (offer === null) refuseFor(hourlyProblem(router, order.duration));
	const terms = computeTerms(offer, router, seconds);
	if (pass) requireFit(terms, pass);
	return terms;
}

/** @throws Refused `offer_not_available` */
export function requireFit(terms: Pick<SessionRow, Limit>, pass: PassRow): void {
	if (fitsPass(terms, pass)) return;
	const detail = 'Time can only be added with the same speed, and with or without a data limit as before.';
	throw new Refused('offer_not_available', detail);
}

function findOffer(onSale: readonly Offer[], id: number, seconds: number): Offer {
	const offer = onSale.find((one) => one.id === id);
	if (!offer) throw new Refused('offer_not_available', 'The router has no offer with this id on sale now.');
	if (durationSeconds(offer.duration) === seconds) return offer;
	const detail = `The offer has the duration "${offer.duration}".`;
	throw validationFailed([{ in: 'body', pointer: '/duration', code: 'out_of_range', detail }]);
}

const computeTerms = (offer: Offer | null, router: RouterRow, seconds: number): Terms => ({
	amount_minor: offer?.price_minor ?? priceForSeconds(router.price_minor, seconds),
	offer_id: offer?.id ?? null,
	offer_name: offer?.name ?? null,
	...limitsOf(offer ?? {}),
	max_devices: offer?.max_devices ?? router.max_devices
});

/** Lists the sessions that an account created, newest first, without passwords. */
export async function listOwnSessions(
	{ database, clock }: Base,
	{ accountId }: Pick<Caller, 'accountId'>,
	search: Parameters<typeof findSessionsOfAccount>[2]
) {
	const now = clock.now();
	const { rows, next } = await findSessionsOfAccount(database.db, accountId, search);
	const found = rows.map((row) => expireIfOver(row, now));
	// A session that is over has left the state that was asked for.
	const shown = found.filter(({ status }) => (search.status ?? status) === status);
	const passIds = shown.flatMap(({ pass_id: id }) => id ?? []);
	const passOf = new Map((await findPasses(database.db, passIds)).map((pass) => [pass.id, pass]));
	const data = shown.map((row) => describeSession(row, passOf.get(row.pass_id ?? 0) ?? null, now, null));
	return { data, next };
}

/** Returns the session; only the buyer gets the password. @throws Refused `session_not_found` */
export async function readSession(context: SessionsContext, caller: Caller, id: number) {
	const { database, clock } = context;
	const found = await findVisibleSession(database.db, caller, id);
	const isChanging = isDue(found, clock.now());
	const row = isChanging ? await database.transact((trx) => lockCurrentSession(context, trx, id)) : found;
	const isBuyer = row.account_id === caller.accountId;
	const pass = row.pass_id === null ? null : await findPassOrThrow(database.db, row.pass_id);
	// The pass may have ended since the read, which erases its password.
	if (!isBuyer || row.status !== 'active' || !pass || pass.password_sealed === null) {
		return describeSession(row, pass, clock.now(), null);
	}
	return describeWithPassword(context, row, pass);
}

async function describeWithPassword(context: SessionsContext, row: SessionRow, pass: PassRow) {
	const { database, clock, routers } = context;
	const router = await findRouterOrThrow(database.db, row.router_id);
	// The network's name may have changed since the order.
	return describeSession({ ...row, ssid: router.ssid }, pass, clock.now(), {
		password: openPassword(context, pass),
		security: router.security,
		hidden: router.hidden === 1,
		networkPassword: openNetworkPassword(routers, router)
	});
}

/**
 * Returns an expired session during extra time as its buyer's page shows it: active, until the extra time ends. Returns
 * null without such time. The API itself never shows it: there, expired is final.
 */
export async function readInExtraTime(context: SessionsContext, id: number): Promise<SessionBody | null> {
	const { db } = context.database;
	const row = await findSession(db, id);
	const end = row ? await findExtraTimeEnd(context, db, row) : null;
	if (end === null || row?.pass_id == null) return null;
	const pass = await findPassOrThrow(db, row.pass_id);
	const shown = { ...row, status: 'active', expires_at: end, ended_at: null } as const;
	return pass.password_sealed === null ? null : describeWithPassword(context, shown, pass);
}

export const findSessionsOfAccount = (
	queries: Queries,
	accountId: number,
	{ status, ...page }: NewestFirst & { status?: SessionStatus | undefined }
) =>
	findNewestFirst(
		queries
			.selectFrom('sessions')
			.selectAll()
			.where(({ and }) => and({ account_id: accountId, ...withoutNulls({ status }) })),
		page
	);
