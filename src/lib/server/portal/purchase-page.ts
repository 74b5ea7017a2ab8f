import type { SessionBody } from '#lib/server/contract/session.ts';
import { type RequestEvent, error } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { apiClient } from './api-client.ts';
import { answerJson, answerUnavailable, orUnavailable } from './pages.ts';
import { continuePurchase, retryPurchase } from './ordering.ts';
import { type PurchasePart, type PurchaseView, type ShownSession, awaitPurchase } from './purchases.ts';
import { apart } from '#lib/i18n/intl.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { parseId } from '#lib/domain/text.ts';
import { formatDuration } from '#lib/domain/time.ts';
import { methodName, momentText } from '#lib/format/words.ts';
import { ANY_PAYMENT_METHOD, isRefused } from '#lib/domain/payment-methods.ts';
import { DELETED_NUMBER, formatMobile, hideMiddle, numberInField } from '#lib/domain/phone.ts';
import {
	type FormErrors,
	type PayAgain,
	chargingMethods,
	formatAgreed,
	formatDataLimit,
	quote,
	quoteOffer
} from '#lib/purchase/quote.ts';
import {
	type PassData,
	type PurchaseState,
	type PurchaseWords,
	CHANGES,
	SOON_SECONDS,
	computeDataStep,
	computeWarnSeconds,
	describeAdded,
	describeRefusal,
	describeState,
	formatRefund,
	listMoneyWords,
	listWords
} from '#lib/purchase/state.ts';
import { readOrderer } from './pay-page.ts';
import { link } from '#lib/i18n/current.ts';
import { type SignIn, writeInstructions } from './go-online.ts';
import { findSignIn } from '../gateways/gateways.ts';
import { findCodeSms, sendCodeSms } from '../notifications.ts';

/** The page of one purchase: its state in words, the next step, paying again, and the code by SMS. */

/**
 * Holds a reload without script until there is a change, or for this time. The service gets a few requests
 * per minute instead of twenty.
 */
const RELOAD_HOLD_SECONDS = 10;

/**
 * Reads the purchase of the address. @throws HttpError 404 if there is none, 503 if the service is
 * unavailable
 */
export async function requirePurchase(event: RequestEvent<{ token: string }>): Promise<Purchase> {
	const { purchases } = event.locals.app;
	const holds = event.request.method === 'GET' && event.url.searchParams.has('held');
	const found = await orUnavailable(
		continuePurchase(purchases, apiClient(event), event.params.token, holds ? RELOAD_HOLD_SECONDS : 0),
		m.purchase_unreachable()
	);
	if (!found) error(404, m.purchase_not_found());
	return describePurchase(event.locals.app, found);
}

/** The longest wait for a change, in seconds; the same as the API's limit. */
const MAX_WAIT_SECONDS = 20;

/** Answers `?wait=` with a `{ state }` that changes when there is something new to show. */
export async function answerState(
	event: RequestEvent,
	token: string,
	stateOf: (purchase: Purchase) => string | Promise<string>
): Promise<Response> {
	const { app } = event.locals;
	const asked = event.url.searchParams.get('wait') ?? '';
	const wait = /^\d{1,3}$/.test(asked) ? Math.min(Number(asked), MAX_WAIT_SECONDS) : 0;
	try {
		const found = await awaitPurchase(app.purchases, apiClient(event), token, wait);
		if (!found) return answerJson({ state: null }, 404);
		if (found.successor !== null) return answerJson({ state: 'replaced' });
		return answerJson({ state: await stateOf(describePurchase(app, found)) });
	} catch (problem) {
		return answerUnavailable(problem);
	}
}

/** Active time: one session, or consecutive ones with one password. */
interface Pass {
	session: ShownSession;
	remainingSeconds: number;
	totalSeconds: number;
	/** The page warns when this much time is left. */
	warnSeconds: number;
	/** The last session, to which time is added. */
	last: SessionBody;
	/** null without a data limit. */
	data: PassData | null;
}

/** A purchase as the API tells it, with what that means now: its pages read nothing else of it. */
export interface Purchase extends PurchaseView {
	state: PurchaseState;
	/** Time that is being added to an active pass; null if there is nothing to show. */
	adding: PurchaseState | null;
	pass: Pass | null;
	/** The order that `state` describes. */
	part: PurchasePart;
	waiting: PurchasePart | null;
	/** About the refunds of additional payments, one text each. */
	notes: string[];
	/** Changes whenever the page has something new to show. */
	watch: string;
}

/** A declined addition is shown for this long. */
const REFUSED_SHOWN_MS = 15 * 60 * 1000;

export function describePurchase(
	{ clock, config: { reportTimezone: timeZone } }: Pick<App.Locals['app'], 'clock' | 'config'>,
	purchase: PurchaseView
): Purchase {
	const now = new Date(clock.now());
	const parts: PurchasePart[] = [purchase, ...purchase.added];
	const active = findActive(parts);
	const pass = computePass(active, parts, now);
	const newest = purchase.added.at(-1) ?? null;
	const words = (part: PurchasePart, end = part.session.expires_at): PurchaseWords => {
		const data = computeData(parts, part.session);
		return listWords(part, {
			until: end && momentText(new Date(end), now, timeZone),
			data: data && formatDataLimit(data.limitMb),
			// Word joiners prevent a line break at the hyphen: buyers copy the code by hand. readCode ignores
			// them.
			code: apart(purchase.code.replace('-', '\u2060-\u2060'))
		});
	};

	const part = (pass && active[0]) ?? findSubject(purchase);
	const state = describeState(part.session, part.payment, words(part, pass?.last.expires_at), now);
	const adding =
		pass && newest && newest !== part && isNews(newest, now)
			? describeAdded(newest.session, newest.payment, words(newest), now)
			: null;

	// The newest one, while an earlier one is still waited for.
	const declined = part.otherPayments.find((one) => isRefused(one) && one.id > (part.payment?.id ?? one.id));
	const why = declined && describeRefusal(declined.failure_code, words({ ...part, payment: declined })).title;
	const ran = pass !== null || part.session.status === 'expired';
	const isLosing = ran && purchase.outages?.isSilent === true;
	const described = adding ? [part, newest] : [part];
	const waiting = described.find(
		(one) => one?.payment?.status === 'pending' && one.session.status !== 'active'
	);
	// The same object, because `part` and `waiting` may be it.
	return Object.assign(purchase, {
		// Added time is paid again in the form that ordered it.
		state: {
			...(part === purchase || state.action === 'none' ? state : offerNewPurchase(state)),
			...(isLosing && pass === null && CHANGES)
		},
		adding,
		pass,
		part,
		waiting: waiting ?? null,
		notes: [
			...(why === undefined ? [] : [why]),
			...(ran ? formatOutages(purchase, isLosing) : []),
			...listNotes(parts, described)
		],
		watch: [
			...[state.kind, adding?.kind, pass?.last.expires_at, pass?.data && computeDataStep(pass.data)],
			isLosing && 'outage'
		]
			.filter((one) => one !== false)
			.join(' ')
			.trim()
	});
}

/** A new purchase is not related to the payment that may still succeed, so both would be kept. */
const offerNewPurchase = (state: PurchaseState): PurchaseState => ({
	...state,
	action: 'buy',
	...(state.kind === 'unknown' && { next: m.purchase_late_next() })
});

function computePass(
	active: readonly PurchasePart[],
	parts: readonly PurchasePart[],
	now: Date
): Pass | null {
	const first = active[0]?.session;
	const last = active.at(-1)?.session;
	if (!first || !last || first.password === null) return null;
	const totalSeconds = (moment(last.expires_at) - moment(first.starts_at)) / 1000;
	return {
		session: first,
		remainingSeconds: Math.max(0, Math.ceil((moment(last.expires_at) - now.getTime()) / 1000)),
		totalSeconds,
		warnSeconds: computeWarnSeconds(totalSeconds),
		last,
		data: computeData(parts, last)
	};
}

/** Returns the data of a session's pass. Each session that was bought for the pass adds its own. */
function computeData(
	parts: readonly PurchasePart[],
	{ pass_id, data_left_mb }: SessionBody
): PassData | null {
	const bought = parts.filter(({ session, payment }) => session.pass_id === pass_id && payment?.applied);
	const limits = bought.flatMap(({ session }) => session.offer?.data_limit_mb ?? []);
	const limitMb = limits.reduce((total, limit) => total + limit, 0);
	return limitMb === 0 ? null : { limitMb, leftMb: data_left_mb };
}

const moment = (text: string | null) => Date.parse(text ?? '');

/** Active parts in the order of their ends. Of two passes (one has extra time), those of the one that ends last. */
function findActive(parts: readonly PurchasePart[]): PurchasePart[] {
	const active = parts.filter(({ session }) => session.status === 'active');
	active.sort((a, b) => moment(a.session.expires_at) - moment(b.session.expires_at));
	return active.filter(({ session }) => session.pass_id === active.at(-1)?.session.pass_id);
}

/** Returns the order to describe while no time runs: the newest that is open or ran, else the first. */
function findSubject(purchase: PurchaseView): PurchasePart {
	const added = purchase.added.findLast(({ session, payment }) => {
		if (['activating', 'expired', 'ended'].includes(session.status)) return true;
		return payment !== null && !isRefused(payment);
	});
	return added ?? purchase;
}

function isNews({ payment }: PurchasePart, now: Date): boolean {
	if (!payment || !isRefused(payment)) return true;
	return now.getTime() - moment(payment.updated_at) < REFUSED_SHOWN_MS;
}

function formatOutages({ outages }: PurchaseView, isLosing: boolean): string[] {
	const minutes = Math.round((outages?.givenSeconds ?? 0) / 60);
	return [
		...(isLosing ? [m.purchase_outage()] : []),
		...(minutes > 0 ? [m.purchase_outage_given({ duration: formatDuration(`${minutes}m`) })] : [])
	];
}

/** Explains the refunds that the page does not describe elsewhere. */
function listNotes(parts: readonly PurchasePart[], described: readonly (PurchasePart | null)[]): string[] {
	return parts.flatMap((part) => {
		const own = described.includes(part) || !part.payment ? [] : [part.payment];
		return [...own, ...part.otherPayments].flatMap((one) => formatRefund(one, listMoneyWords(one)) ?? []);
	});
}

/** Describes how to pay again, at the agreed price while this order can be paid; null if its time is not sold any more. */
export function describeRetry(purchase: Purchase): PayAgain | null {
	const { router, session, payment } = purchase;
	const amount = findRetryPrice(purchase);
	const isSold = session.status === 'pending_payment' || router.status === 'online';
	if (amount === null || !isSold) return null;
	return {
		amount,
		money: formatMoney(amount, session.currency),
		words: formatAgreed(session.duration, session.offer),
		...findRetryMethods(purchase, amount),
		instead: isAsking(purchase) ? session.id : null,
		paymentMethod: session.payment_method,
		phone: numberInField(payment?.phone ?? session.phone)
	};
}

/** Whether somebody is asked for its payment now, perhaps at a wrong number. */
export const isAsking = (purchase: Purchase): boolean => purchase.waiting === purchase;

const findRetryPrice = (purchase: Purchase): number | null =>
	purchase.session.status === 'pending_payment' ? purchase.session.amount : findPriceNow(purchase);

function findPriceNow({ router, session: { duration, offer } }: Purchase): number | null {
	return (offer ? quoteOffer(router, duration, offer.id) : quote(router, duration))?.amount ?? null;
}

/** Another method needs a new order, so it is missing while only this order keeps the agreed price. */
function findRetryMethods(purchase: Purchase, amount: number): Pick<PayAgain, 'methods' | 'note'> {
	const { payment_method: own } = purchase.session;
	if (findPriceNow(purchase) === amount)
		return { methods: chargingMethods(purchase.router, amount), note: null };
	const note = own === ANY_PAYMENT_METHOD ? null : m.purchase_price_kept({ method: methodName(own) });
	return { methods: [own], note };
}

interface RetryEntry {
	paymentMethod: string;
	phone: string;
	quoted: string;
	another: string;
	/** `PayAgain.instead`, or empty. */
	instead: string;
}

/** Explains by field why a form cannot pay again. Only the amount that was shown is charged. */
export function findRetryProblems(purchase: Purchase, entry: RetryEntry): FormErrors {
	if (entry.quoted !== String(findRetryPrice(purchase))) return { form: m.purchase_price_changed() };
	const { methods, note } = findRetryMethods(purchase, Number(entry.quoted));
	return {
		...(methods.includes(entry.paymentMethod) ? {} : { paymentMethod: note ?? m.router_choose_method() }),
		...(entry.phone === '' ? { phone: m.router_type_number() } : {})
	};
}

/**
 * Pays this purchase again, or buys the same time if it can't be paid any more. Returns the token to show.
 * @throws as `retryPurchase`
 */
export function sendRetry(event: RequestEvent, token: string, { session }: Purchase, entry: RetryEntry) {
	const { paymentMethod, phone, quoted, another, instead } = entry;
	const form = {
		...{ paymentMethod, phone, amount: Number(quoted), currency: session.currency },
		instead: parseId(instead)
	};
	const orderer = readOrderer(event, another);
	return retryPurchase(event.locals.app.purchases, apiClient(event), token, form, orderer);
}

/** SMS with the code: the installation pays for one to the number that paid, and for a second if the first may be missing. */
type Status = NonNullable<NonNullable<Awaited<ReturnType<typeof findCodeSms>>>['status']>;

/** Describes the SMS of a purchase with a running pass. Returns null if the installation offers none. */
export async function readCodeSms({ locals }: RequestEvent, token: string, purchase: Purchase) {
	const phone = findPayingNumber(purchase);
	const sms = phone && (await findCodeSms(locals.app.notifications, token));
	if (!sms) return null;
	const hidden = (e164: string) => hideMiddle(formatMobile(e164));
	const isWaiting = sms.status === 'queued' || sms.status === 'sending';
	return {
		/** '' before the first one. */
		state: sms.status ?? '',
		ask: sms.mayAsk ? m.purchase_sms_ask({ number: hidden(phone) }) : null,
		text: sms.status && TEXTS[sms.status]({ number: hidden(sms.phone ?? phone) }),
		refreshSeconds: isWaiting ? SOON_SECONDS : null
	};
}

const TEXTS: Record<Status, (values: { number: string }) => string> = {
	queued: m.purchase_sms_sending,
	sending: m.purchase_sms_sending,
	sent: m.purchase_sms_sent,
	uncertain: m.purchase_sms_uncertain,
	failed: m.purchase_sms_failed
};

/** Returns the number whose payment bought the pass; null without a running pass. */
function findPayingNumber({ pass, part: { payment } }: Purchase): string | null {
	const isKnown = pass !== null && payment?.applied && payment.phone !== DELETED_NUMBER;
	return isKnown ? payment.phone : null;
}

/** Queues the SMS; a second request for the same one queues none. */
export async function queueCode(
	{ locals: { app, origin } }: RequestEvent,
	token: string,
	purchase: Purchase
): Promise<void> {
	const { pass } = purchase;
	const phone = findPayingNumber(purchase);
	const { method: signIn } = await findSignIn(app.gateways, purchase.router.id);
	const text = pass && writeSms(purchase, pass.session, { signIn, origin });
	if (phone && text) await sendCodeSms(app.notifications, token, { phone, text });
}

/** Writes what signs in without the page, then the code that opens it. */
function writeSms(
	{ code, router: { hidden } }: Purchase,
	session: SessionBody,
	{ signIn, origin }: { signIn: SignIn; origin: string }
): string {
	const { user, password, folded } = writeInstructions(session, {
		...{ shownOn: 'page', signIn, hidden, code }
	});
	const login = folded === null ? [user, password].filter((one) => one !== null) : [];
	return [
		// The label of the password names the Wi-Fi too.
		...(login.length === 0 ? [session.ssid] : []),
		...login.map(({ label, text }) => `${label}: ${text}`),
		`${m.resume_label()}: ${code}`,
		`${new URL(origin).host}${link('/resume')}`
	].join('\n');
}
