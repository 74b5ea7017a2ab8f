import { LIMIT_CONCURRENCY, type Queries, type Tx } from '../db/database.ts';
import type { Caller } from '../accounts/accounts.ts';
import { binder } from '../platform/bind.ts';
import { activate, startTime } from './activate.ts';
import {
	applyDueChange,
	cancelUnconfirmed,
	cancelWaiting,
	current,
	endAtDataLimit,
	endExtraTime,
	endForOwner,
	endRefunded,
	endSession,
	extraTimeUntil,
	findOrThrow,
	giveExtraTime,
	isDue,
	recordEvent,
	runSessionJob,
	shownSession
} from './session-states.ts';
import * as store from './session-store.ts';
import type { OwnerRow, SessionRow } from './session-store.ts';
import type { Base } from '../base.ts';
import type { PassRow, Passes } from '../passes/passes.ts';
import { fenceHandlers } from '../jobs.ts';
import type { Events } from '../events.ts';
import type { Offer } from '../routers/offers.ts';
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
import { type Operators, operatorForPayment } from './operators/registry.ts';
import { DAY_MS, durationProblem, durationSeconds, hourlyProblem } from '#lib/domain/time.ts';
import { findPaymentMethod } from '#lib/domain/payment-methods.ts';
import { maskPhone, parseMobile } from '#lib/domain/phone.ts';
import type { OwnerUserBody } from '../contract/owner.ts';
import type { SessionBody, SessionCreationBody } from '../contract/session.ts';
import { AppError, validationFailed } from '../platform/errors.ts';
import { priceForSeconds, toMajor } from '#lib/domain/money.ts';
import { type Limit, cheapestUnlimited, dataMb, fitsPass, limitsOf } from '#lib/domain/offers.ts';
import { cutPage } from '../db/queries.ts';
import { type WifiSecurity, asksUserName, endsByItself, loginUser, wifiQrText } from '#lib/domain/wifi.ts';
import { isoTime } from '../platform/clock.ts';

export type { UnappliedReason } from './activate.ts';
export type { SessionRow } from './session-store.ts';

/**
 * Sessions: purchases of time on a router.
 *
 * States:
 *
 *   pending_payment -> activating        a payment succeeded (activate)
 *   activating -> active                 the time starts (activate), mostly in the same transaction
 *   activating -> cancelled              no gateway confirmed it in time (end-session); refunded
 *   active -> cancelled                  no gateway learnt of time that started unconfirmed (end-session); refunded
 *   pending_payment -> cancelled         DELETE, or not paid in time (transition)
 *   cancelled(payment_timeout) -> activating   a success within the grace period (activate)
 *   active -> expired                    the clock
 *   active -> ended                      DELETE, its data is used, or its owner ends or refunds it (end-session)
 *
 * Guarantees: a change applies only if the row is still in the state where it starts. Its event shares the
 * transaction. Sessions of one pass follow each other without a gap, except for extra time after the last one's end:
 * that opens the pass again and changes no session.
 */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(context: SessionsContext) {
	const { clock } = context;
	const bind = binder(context);
	return {
		create: bind(createSession),
		read: bind(readSession),
		end: async (caller: Caller, id: number, onlyStatus?: store.SessionStatus) =>
			shownSession(context, context.database.db, await endSession(context, caller, id, onlyStatus)),
		endForOwner: bind(endForOwner),
		giveExtraTime: bind(giveExtraTime),
		extraTimeMs: store.extraTimeMs,
		extraTimeUntil: bind(extraTimeUntil),
		endExtraTime: bind(endExtraTime),
		readExtended: bind(readExtended),
		sessionAtOwner: bind(sessionAtOwner),
		endRefunded: bind(endRefunded),
		list: bind(listSessions),
		listForOwner: bind(listForOwner),
		countForOwner: bind(countForOwner),
		findOrThrow,
		current: bind(current),
		activeOf: store.activeOf,
		laterInPass: store.laterInPass,
		isPaying: store.isPaying,
		/** Returns the caller's own session after due changes; null for others. */
		async ownCurrent(trx: Tx, caller: Caller, id: number): Promise<store.SessionRow | null> {
			const row = await store.find(trx, id);
			return row?.account_id === caller.accountId ? applyDueChange(context, trx, row) : null;
		},
		async notePayment(trx: Tx, id: number, paymentId: number): Promise<void> {
			const from = { id, status: 'pending_payment' } as const;
			await store.change(trx, from, { payment_id: paymentId, updated_at: clock.now() });
		},
		activate: bind(activate),
		startTime: bind(startTime),
		cancelWaiting: bind(cancelWaiting),
		endAtDataLimit: bind(endAtDataLimit),
		cancelUnconfirmed: bind(cancelUnconfirmed),
		jobs: fenceHandlers(context, { [SESSION_END_JOB]: runSessionJob })
	};
}

export interface SessionsContext extends Base {
	events: Events;
	routers: Routers;
	operators: Operators;
	passes: Passes;
	provisioning: Provisioning;
	gateways: {
		/** Whether another account has registered all access points of the router, so that no device can sign in. */
		sellsNowhere(queries: Queries, routerId: number): Promise<boolean>;
	};
}

/** For what runs in a transaction of its caller. */
export type SessionServices = Omit<SessionsContext, 'database'>;

/** Sessions call access/ through this, in the transaction that changes them. access/ is built on sessions. */
export interface Provisioning {
	/**
	 * Requests the grants of a paid pass.
	 * @returns the deadline for a confirmation (ms since the epoch), or null if the time may start now
	 */
	requestGrants(trx: Tx, pass: PassRow): Promise<number | null>;
	/** Makes gateways compare their state with the pass. */
	scheduleGatewayCalls(trx: Tx, passId: number): Promise<void>;
	/**
	 * Schedules a check that the gateway received time added at `startsAt`, even if no gateway needs a grant yet: the
	 * device may move to one that does.
	 */
	scheduleUnconfirmedCheck(trx: Tx, sessionId: number, startsAt: number): Promise<void>;
}

/** One per session: cancels an unpaid session, expires a paid one. Stored jobs have this kind. */
export const SESSION_END_JOB = 'session.settle';

/** Stores a response in the transaction of its effect. `status` replaces the route's own. */
export type RememberBody<T> = (trx: Tx, body: T, status?: 200 | 201) => Promise<void>;

/** Orders time; charges nothing. @throws AppError, see api/sessions.ts */
const createSession = (
	context: SessionsContext,
	caller: Caller,
	order: SessionCreationBody,
	remember?: RememberBody<SessionBody>
): Promise<SessionBody> =>
	context.database.transact(async (trx) => {
		const { clock, config, gateways, jobs, routers, operators, passes } = context;
		const router = await findVisibleRouter(trx, caller, order.router_id);
		const extended = await extendedSession(context, trx, caller, order);
		const methods = listPaymentMethods(routers, router);
		const { phone, method } = checkOrder(context, order, router, methods);
		if (!extended && (await gateways.sellsNowhere(trx, router.id))) {
			throw new AppError(
				'router_unavailable',
				'The access points of the router are claimed by two accounts.'
			);
		}
		const pass = extended?.pass_id ? await passes.findOrThrow(trx, extended.pass_id) : null;
		const terms = agreedTerms(routers, router, order, pass);
		const { currency } = router;
		const amountMinor = terms.amount_minor;
		operatorForPayment(operators, { method, phone, amountMinor, currency }, methods);
		const now = clock.now();
		const created = await store.insert(trx, {
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
		await jobs.schedule(trx, SESSION_END_JOB, created.id, created.payment_due_at);
		await recordEvent(context, trx, 'session.created', created);
		const body = sessionBody(created, pass, now, null);
		await remember?.(trx, body);
		return body;
	}, LIMIT_CONCURRENCY);

/** Only the buyer may extend a session: added time has the same password. */
async function extendedSession(
	{ clock }: SessionsContext,
	trx: Tx,
	caller: Caller,
	{ extends_session_id: id, router_id: routerId }: SessionCreationBody
): Promise<store.SessionRow | undefined> {
	if (id === undefined) return undefined;
	const row = await store.find(trx, id);
	if (!row || row.account_id !== caller.accountId) throw sessionNotFound();
	const { status } = asOfNow(row, clock.now());
	if (status === 'active' && row.router_id === routerId) return row;
	const why =
		status === 'active'
			? `The session is on router ${row.router_id}.`
			: `The session is ${status}; order time without extends_session_id.`;
	throw new AppError('session_not_extendable', why, { extensions: { session_status: status } });
}

/** Checks an order; reports the first problem. Returns the payer's number in E.164, and the method. @throws AppError */
function checkOrder(
	{ clock, config }: SessionsContext,
	order: SessionCreationBody,
	router: RouterRow,
	paymentMethods: string[]
): { phone: string; method: string } {
	if (!sells(router, config, clock.now())) {
		throw new AppError('router_unavailable', 'The router is offline and cannot be sold now.');
	}
	const method = findPaymentMethod(order.payment_method, paymentMethods);
	if (method === null) {
		throw new AppError('payment_method_not_supported', `The router accepts ${paymentMethods.join(', ')}.`, {
			extensions: { payment_methods: paymentMethods }
		});
	}
	return { phone: mobileNumber(order.phone, config.defaultRegion), method };
}

/** @throws AppError `invalid_phone` */
export function mobileNumber(text: string, region: string): string {
	const phone = parseMobile(text, region);
	if (phone === null) {
		throw new AppError('invalid_phone', 'Use a mobile number with its country code, e.g. "+256772123456".');
	}
	return phone;
}

/** The price and the limits that a session keeps, whatever its router sells later. */
type Terms = Pick<SessionRow, 'amount_minor' | 'offer_id' | 'offer_name' | Limit>;

/**
 * Finds what an order buys: the offer in `offer_id`; without one, the cheapest available offer of exactly this duration
 * that adds no limit; otherwise the time at the hourly price.
 * @param pass the pass that gets the time; null for a new one
 * @throws AppError `duration_not_allowed | duration_not_offered | offer_not_available | validation_failed`
 */
function agreedTerms(
	routers: Routers,
	router: RouterRow,
	order: Pick<SessionCreationBody, 'duration' | 'offer_id'>,
	pass: PassRow | null
): Terms {
	const seconds = durationSeconds(order.duration);
	const refuseFor = (problem: string | null) => {
		if (problem === null) return;
		const { min_duration, max_duration } = router;
		throw new AppError('duration_not_allowed', problem, { extensions: { min_duration, max_duration } });
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
			: chosenOffer(onSale, order.offer_id, seconds);
	if (offer === null && router.hourly === 0) {
		const durations = onSale.map(({ duration }) => duration).join(', ') || 'none is on sale now';
		throw new AppError('duration_not_offered', `This router sells only its offers: ${durations}.`, {
			extensions: { offers: listed.map(({ body }) => body) }
		});
	}
	if (offer === null) refuseFor(hourlyProblem(router, order.duration));
	const terms = termsOf(offer, router, seconds);
	if (pass && !fitsPass(terms, pass)) {
		const detail = 'Time can only be added with the same speed, and with or without a data limit as before.';
		throw new AppError('offer_not_available', detail);
	}
	return terms;
}

function chosenOffer(onSale: readonly Offer[], id: number, seconds: number): Offer {
	const offer = onSale.find((one) => one.id === id);
	if (!offer) throw new AppError('offer_not_available', 'The router has no offer with this id on sale now.');
	if (durationSeconds(offer.duration) === seconds) return offer;
	const detail = `The offer has the duration "${offer.duration}".`;
	throw validationFailed([{ in: 'body', pointer: '/duration', code: 'out_of_range', detail }]);
}

const termsOf = (offer: Offer | null, router: RouterRow, seconds: number): Terms => ({
	amount_minor: offer?.price_minor ?? priceForSeconds(router.price_minor, seconds),
	offer_id: offer?.id ?? null,
	offer_name: offer?.name ?? null,
	...limitsOf(offer ?? {}),
	max_devices: offer?.max_devices ?? router.max_devices
});

export const sessionNotFound = () => new AppError('session_not_found', 'There is no session with this id.');

/** Returns a session that the caller may see. @throws AppError `session_not_found` */
export async function visible(queries: Queries, caller: Caller, id: number): Promise<SessionRow> {
	const row = await store.find(queries, id);
	if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) throw sessionNotFound();
	return row;
}

/** Returns a session at a router of this owner, after due changes. @throws AppError `session_not_found` */
export async function sessionAtOwner(
	context: SessionsContext,
	trx: Tx,
	accountId: number,
	id: number
): Promise<SessionRow> {
	const found = await store.find(trx, id);
	const router = found && (await findRouterOrThrow(trx, found.router_id));
	if (!found || router?.owner_account_id !== accountId) throw sessionNotFound();
	return applyDueChange(context, trx, found);
}

/** Lists the sessions that an account created, newest first, without passwords. */
async function listSessions(
	context: SessionsContext,
	{ accountId }: Pick<Caller, 'accountId'>,
	search: Parameters<typeof store.ofAccount>[2]
) {
	const { database, clock, passes } = context;
	const now = clock.now();
	const { rows, next } = await store.ofAccount(database.db, accountId, search);
	const found = rows.map((row) => asOfNow(row, now));
	// A session that is over has left the state that was asked for.
	const shown = found.filter(({ status }) => (search.status ?? status) === status);
	const passIds = shown.flatMap(({ pass_id: id }) => id ?? []);
	const passOf = new Map((await passes.findAll(database.db, passIds)).map((pass) => [pass.id, pass]));
	const data = shown.map((row) => sessionBody(row, passOf.get(row.pass_id ?? 0) ?? null, now, null));
	return { data, next };
}

/** Returns the session; only the buyer gets the password. @throws AppError `session_not_found` */
async function readSession(context: SessionsContext, caller: Caller, id: number): Promise<SessionBody> {
	const { database, clock, passes } = context;
	const found = await visible(database.db, caller, id);
	const isChanging = isDue(found, clock.now());
	const row = isChanging ? await database.transact((trx) => current(context, trx, id)) : found;
	const isBuyer = row.account_id === caller.accountId;
	const pass = row.pass_id === null ? null : await passes.findOrThrow(database.db, row.pass_id);
	// The pass may have ended since the read, which erases its password.
	if (!isBuyer || row.status !== 'active' || !pass || pass.password_sealed === null) {
		return sessionBody(row, pass, clock.now(), null);
	}
	return withPassword(context, row, pass);
}

async function withPassword(
	{ database, clock, passes, routers }: SessionsContext,
	row: SessionRow,
	pass: PassRow
): Promise<SessionBody> {
	const router = await findRouterOrThrow(database.db, row.router_id);
	// The network's name may have changed since the order.
	return sessionBody({ ...row, ssid: router.ssid }, pass, clock.now(), {
		password: passes.passwordOf(pass),
		security: router.security,
		hidden: router.hidden === 1,
		networkPassword: openNetworkPassword(routers, router)
	});
}

/**
 * Returns an expired session during extra time as its buyer's page shows it: active, until the extra time ends. Returns
 * null without such time. The API itself never shows it: there, expired is final.
 */
async function readExtended(context: SessionsContext, id: number): Promise<SessionBody | null> {
	const { db } = context.database;
	const row = await store.find(db, id);
	const end = row ? await extraTimeUntil(context, db, row) : null;
	if (end === null || row?.pass_id == null) return null;
	const pass = await context.passes.findOrThrow(db, row.pass_id);
	const shown = { ...row, status: 'active', expires_at: end, ended_at: null } as const;
	return pass.password_sealed === null ? null : withPassword(context, shown, pass);
}

type Owner = Pick<Caller, 'accountId'>;

/** A session that ended early counts as expired. */
type SessionGroup = 'active' | 'expired';

interface Found {
	data: OwnerUserBody[];
	next: [number, number] | null;
}

/** Each span of a search is so many times as long as the one before. */
const GROWTH = 4;

/** Lists sessions on an owner's routers, latest start first, without passwords and full numbers. */
async function listForOwner(
	context: SessionsContext,
	owner: Owner,
	{ group, ...page }: store.Page & { group: SessionGroup | null }
): Promise<Found> {
	const { db } = context.database;
	const of = { accountId: owner.accountId, now: context.clock.now() };
	const search = { ...page, limit: page.limit + 1 };
	const found =
		group === 'active'
			? await store.runningOfOwner(db, of, search)
			: await readBegun(db, of, group === 'expired', search);
	const { rows, next } = cutPage(found, page.limit, ({ starts_at, id }): [number, number] => [starts_at, id]);
	return { data: rows.map((row) => ownerUserBody(row, of.now)), next };
}

/** Counts what `listForOwner` lists. Those that are over are the owner's whole history. */
function countForOwner(
	{ clock, database: { db } }: SessionsContext,
	{ accountId }: Owner,
	group: SessionGroup
): Promise<number> {
	const of = { accountId, now: clock.now() };
	return group === 'active' ? store.countActiveOfOwner(db, of) : store.countEndedOfOwner(db, of);
}

/** Reads about as many sessions as it returns. */
async function readBegun(
	db: Queries,
	of: store.Owner,
	isOver: boolean,
	{ after, limit }: store.Page
): Promise<store.OwnerRow[]> {
	const rows: store.OwnerRow[] = [];
	const end = (after?.[0] ?? Number.MAX_SAFE_INTEGER - 1) + 1;
	// The first page begins with the few sessions that start in the future.
	let span = { from: Math.min(of.now, end - DAY_MS), until: end };
	for (let lengthMs = DAY_MS; ; lengthMs *= GROWTH) {
		const page = { after, limit: limit - rows.length };
		rows.push(...(await store.begunOfOwner(db, of, { ...span, isOver, ...page })));
		if (rows.length >= limit) return rows;
		const latest = await store.latestStartOfOwner(db, of.accountId, span.from);
		if (latest === null) return rows;
		span = { from: latest - lengthMs, until: span.from };
	}
}

/** Secrets for the buyer only. */
interface Revealed {
	password: string;
	security: WifiSecurity;
	/** The network does not announce its name. */
	hidden: boolean;
	/** null if the network has none or it is unknown. */
	networkPassword: string | null;
}

/** @param pass the pass that has the session's time */
export function sessionBody(
	row: SessionRow,
	pass: PassRow | null,
	now: number,
	revealed: Revealed | null
): SessionBody {
	return {
		id: row.id,
		router_id: row.router_id,
		status: row.status,
		status_reason: row.status_reason,
		duration: row.duration,
		duration_seconds: row.duration_seconds,
		payment_method: row.payment_method,
		phone: row.phone,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		offer: agreedOffer(row),
		payment_id: row.payment_id,
		ssid: row.ssid,
		password: revealed?.password ?? null,
		access: accessBody(row, revealed),
		payment_due_at: isoTime(row.payment_due_at),
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		ended_at: isoTime(row.ended_at),
		remaining_seconds: remainingSeconds(row, now),
		...dataBody(row, pass),
		extends_session_id: row.extends_session_id,
		pass_id: row.pass_id ?? row.id,
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

function agreedOffer(row: SessionRow): SessionBody['offer'] {
	if (row.offer_id === null || row.offer_name === null) return null;
	return { id: row.offer_id, name: row.offer_name, ...limitsOf(row), max_devices: row.max_devices };
}

function accessBody(row: SessionRow, revealed: Revealed | null): SessionBody['access'] {
	const kind = row.access_kind;
	const qr = revealed && qrText(row, revealed);
	const isLogin = kind === 'portal_login';
	return {
		kind,
		username: revealed && asksUserName(kind) ? loginUser(row.pass_id ?? row.id) : null,
		network_password: revealed && isLogin ? revealed.networkPassword : null,
		qr,
		qr_joins: qr === null ? null : isLogin ? 'network' : 'access',
		end_enforced: endsByItself(kind),
		max_devices: row.max_devices
	};
}

/** Returns null for enterprise networks, which phone cameras cannot set up. */
function qrText({ access_kind, ssid }: SessionRow, revealed: Revealed): string | null {
	const { security, hidden, password, networkPassword } = revealed;
	if (access_kind === 'wpa_enterprise') return null;
	const joining = access_kind === 'portal_login' ? networkPassword : password;
	if (security === 'wpa' && joining === null) return null;
	return wifiQrText({ ssid, security, hidden, password: joining });
}

/** Shows a session whose time is over as expired, even before its job has run. */
export const asOfNow = <Row extends Pick<SessionRow, 'status' | 'expires_at' | 'ended_at'>>(
	row: Row,
	now: number
): Row =>
	row.status === 'active' && row.expires_at !== null && row.expires_at <= now
		? { ...row, status: 'expired', ended_at: row.expires_at }
		: row;

function ownerUserBody(stored: OwnerRow, now: number): OwnerUserBody {
	const row = asOfNow(stored, now);
	const { status } = row;
	return {
		session_id: row.id,
		router_id: row.router_id,
		router_name: row.router_name,
		status,
		group: status === 'active' ? 'active' : 'expired',
		phone_masked: maskPhone(row.phone),
		duration: row.duration,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		ended_at: isoTime(row.ended_at),
		remaining_seconds: status === 'active' ? Math.max(0, Math.ceil((row.expires_at - now) / 1000)) : 0
	};
}

function dataBody({ starts_at }: SessionRow, pass: PassRow | null) {
	const data = starts_at === null || pass === null ? null : dataMb(pass);
	return { data_used_mb: data?.usedMb ?? null, data_left_mb: data?.leftMb ?? null };
}

/** Counts the session's own time: null before payment, all of it before its start, 0 after. */
function remainingSeconds(row: SessionRow, now: number): number | null {
	if (row.expires_at === null) return null;
	if (row.status !== 'active') return 0;
	const left = Math.ceil((row.expires_at - Math.max(now, row.starts_at ?? now)) / 1000);
	return Math.max(0, left);
}
