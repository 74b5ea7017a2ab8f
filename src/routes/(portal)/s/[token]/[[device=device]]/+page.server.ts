import { fail, redirect } from '@sveltejs/kit';
import { formatMoney } from '#lib/domain/money.ts';
import { makePhoneHint, numberInField } from '#lib/domain/phone.ts';
import { clockText } from '#lib/format/words.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import {
	EMPTY_ENTRY,
	describeForm,
	sellingTo,
	sellsNothing,
	timeValue,
	usualChoice
} from '#lib/purchase/quote.ts';
import type { SignInInstructions } from '#lib/purchase/sign-in.ts';
import { describeWait, type PurchaseState } from '#lib/purchase/state.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { purchaseToken } from '#lib/server/platform/secrets.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { earlierOrderIn, extendPurchase } from '#lib/server/portal/ordering.ts';
import { type PurchasePart, findLastActive } from '#lib/server/portal/purchases.ts';
import { qrSvg } from '#lib/server/portal/qr-svg.ts';
import { showBrand } from '#lib/server/portal/brand.ts';
import {
	type SignIn,
	adoptCaptiveSession,
	describeGoOnline,
	describeMove,
	findReadingDevice,
	formatDevices,
	formatOnlineHeading,
	formatWatch,
	isElsewhere,
	isLetIn,
	isOnline,
	mayHaveLeft,
	moveSlots,
	takesCode,
	writeInstructions
} from '#lib/server/portal/go-online.ts';
import {
	type Refusal,
	answerPayForm,
	describeNotice,
	explainRefusal,
	readOrderer,
	refuseUnpaid,
	showAgain,
	takeDeviceOrder
} from '#lib/server/portal/pay-page.ts';
import {
	type PageEvent,
	isOnKiosk,
	orUnavailable,
	ownPath,
	pageAddress,
	pathToBuy,
	readTexts
} from '#lib/server/portal/pages.ts';
import {
	type Purchase,
	describeRetry,
	isAsking,
	findRetryProblems,
	queueCode,
	readCodeSms,
	requirePurchase,
	sendRetry
} from '#lib/server/portal/purchase-page.ts';
import { hasReceipt, listShortLines } from '#lib/server/portal/receipt.ts';
import { readVoucherCode, redeemTyped } from '#lib/server/portal/redeem.ts';
import { enterAgain } from '#lib/server/portal/splash.ts';
import type { Actions, PageServerLoad } from './$types';
import * as m from '#lib/i18n/messages.js';
import { findSignIn, buildStartAddress, namesDevices } from '#lib/server/gateways/gateways.ts';
import { moveToPurchase, findPurchaseDevice } from '#lib/server/gateways/captive-sessions.ts';

/** The page of a purchase. Redirects to its replacement, or to what the address asks for. */
export const load: PageServerLoad = async (event) => {
	const purchase = await requirePurchase(event);
	await adoptCaptiveSession(event, purchase.router.id);
	// A replaced purchase redirects to its replacement.
	if (purchase.successor !== null && event.request.method === 'GET') {
		await moveToPurchase(event.locals.app.captiveSessions, event.params.token, purchase.successor);
		redirect(303, ownPath(event, purchase.successor));
	}
	const { app } = event.locals;
	const { reportTimezone: timeZone } = app.config;
	const { router, session, state, pass, part, waiting, notes, watch } = purchase;
	const now = new Date(app.clock.now());
	const isKiosk = isOnKiosk(event);
	const buyer = await findReadingDevice(event, router.id);
	const buyPath = findPathToBuy(event, purchase, buyer);
	if (buyer && event.request.method === 'GET' && event.url.searchParams.has('buy')) {
		redirect(303, buyPath === BUY ? await enterAgain(event, buyer) : buyPath);
	}
	const device = pass && buyer && !mayHaveLeft(buyer) ? buyer : null;
	const sms = await readCodeSms(event, event.params.token, purchase);
	const here = pass && (await findSignIn(app.gateways, router.id));
	const signIn = here?.method ?? 'typed';
	const startAddress = device ? null : (here?.startAddress ?? null);
	const keepsCode = isKiosk ? !hasNothing(purchase) : pass === null && mayReturn(state, part);
	return {
		page: ownPath(event),
		kiosk: isKiosk ? describeKiosk(event, purchase) : null,
		purchase: {
			...purchase,
			state: { ...state, ...describeHeading(event, purchase, { device, signIn }) },
			notes: isElsewhere(event) ? [m.splash_other_router({ name: apart(router.name) }), ...notes] : notes
		},
		brand: showBrand(event, router),
		watch: formatWatch(watch, device, sms?.state),
		sms,
		keepsCode,
		/** Opens the purchase on a phone; beside a password its QR code is instead of the Wi-Fi's. */
		phoneQr:
			isKiosk && keepsCode && !pass ? qrSvg(pageAddress(event.locals.origin, event.params.token)) : null,
		...(keepsCode && describeCode(event)),
		hint: makePhoneHint(app.config.defaultRegion),
		buyPath,
		lines: isKiosk ? [] : listShortLines(purchase, now, timeZone),
		hasReceipt: !isKiosk && hasReceipt(purchase),
		asOf: clockText(now, timeZone),
		waits: waiting?.payment ? describeWait(waiting.payment, now) : null,
		online: describeGoOnline(event, device, { page: ownPath(event), ssid: apart(session.ssid), signIn }),
		/** The buyer's part of the API cannot end extra time. */
		endText: pass?.session.isExtra || isKiosk ? null : formatEndText(session, signIn),
		...describePass(event, purchase, { device, signIn, startAddress }),
		...describeRetryForm(event, purchase),
		...describeAddForm(event, purchase)
	};
};

const BUY = '?buy';

/** Leads to prices; what is bought there connects the same device. */
function findPathToBuy(event: PageEvent, purchase: Purchase, device: Access['device']): string {
	if (!device) return pathToBuy(event, purchase.router.id);
	// At the end of the time, or when nothing let the device in, only a new redirect names it to the gateway.
	const isForgotten = [purchase, ...purchase.added].some(
		({ session }) => session.starts_at !== null || session.status_reason === 'provisioning_failed'
	);
	const hasRedirect = buildStartAddress(device.gateway) !== null;
	const isStale = hasRedirect && (isForgotten || device.isOld || device.entry.state === 'online');
	// Another device may be reading than the one that would get the time.
	const isUnsure = !device.isReader && (hasRedirect || namesDevices(device.gateway));
	return isStale || isUnsure ? link(`/splash/${device.gateway.key}`) : BUY;
}

interface Access {
	device: Awaited<ReturnType<typeof findReadingDevice>>;
	signIn: SignIn;
}

/** Changes the words of the state for a connected device, and for a buyer who types a code. */
function describeHeading(event: PageEvent, purchase: Purchase, { device, signIn }: Access) {
	const { state, pass } = purchase;
	if (isOnKiosk(event)) {
		return { ...(pass && { text: formatDevices(pass.session.access) }), next: formatNextAtKiosk(purchase) };
	}
	const asksCode = pass !== null && takesCode(pass.session, signIn);
	return {
		// They find the next step below.
		...((asksCode || isLetIn(device)) && { text: '' }),
		...(asksCode && { next: m.purchase_code_text() }),
		...(isOnline(event, device) && formatOnlineHeading(state))
	};
}

/** Nobody was charged and no payment is open, so there is nothing to come back to. */
const hasNothing = ({ state, notes }: Purchase): boolean => state.action === 'retry' && notes.length === 0;

function formatNextAtKiosk(purchase: Purchase): string {
	const { state, pass, waiting } = purchase;
	if (pass) return '';
	if (waiting) return m.kiosk_waiting_text();
	return state.kind === 'getting-ready' || hasNothing(purchase) ? state.next : m.kiosk_keep_code();
}

/** An order in these states may still succeed. */
const OPEN_KINDS: readonly string[] = ['unknown', 'getting-ready', 'unknown-late'];

function describeKiosk(event: PageEvent, { router, state, pass, waiting }: Purchase) {
	const isOpen = waiting !== null || OPEN_KINDS.includes(state.kind);
	return {
		start: pathToBuy(event, router.id),
		kind: isOpen ? ('waiting' as const) : ('reading' as const),
		isPaid: pass !== null
	};
}

function describeCode(event: PageEvent) {
	if (!isOnKiosk(event)) return { codeText: m.purchase_code_text() };
	const address = apart(`${event.url.host}${link('/resume')}`);
	return { codeText: m.kiosk_code(), codeUse: m.kiosk_code_use({ address }) };
}

const PHONE = 'phone';

/** On a kiosk the picture connects the phone, or opens the purchase on it: a camera would confuse two. */
function describeKioskPass(event: PageEvent, instructions: SignInInstructions) {
	const { wifiQr, steps } = instructions;
	const isPhone = event.url.searchParams.has(PHONE) || wifiQr === null;
	const page = ownPath(event);
	return {
		instructions: isPhone
			? {
					...instructions,
					// They speak of the Wi-Fi's QR code. The page on the phone has its own.
					steps: wifiQr === null ? steps : [],
					wifiQr: {
						svg: qrSvg(pageAddress(event.locals.origin, event.params.token)),
						label: m.kiosk_phone_qr(),
						hint: m.kiosk_phone_text()
					}
				}
			: instructions,
		otherQr:
			wifiQr &&
			(isPhone
				? { href: page, text: m.kiosk_wifi_title() }
				: { href: `${page}?${PHONE}`, text: m.kiosk_phone_title() })
	};
}

function describePass(
	event: PageEvent,
	{ code, pass, router: { hidden } }: Purchase,
	{ device, signIn, startAddress }: Access & { startAddress: string | null }
) {
	const { locals, params } = event;
	const isKiosk = isOnKiosk(event);
	const shownOn = isKiosk ? 'kiosk' : device ? 'gateway' : 'page';
	const instructions =
		pass && writeInstructions(pass.session, { shownOn, signIn, hidden, code, startAddress });
	const address = pageAddress(locals.origin, params.token);
	return {
		...(isKiosk && instructions ? describeKioskPass(event, instructions) : { instructions, otherQr: null }),
		move: pass && !isKiosk && describeMove(pass.session, { address, code, signIn })
	};
}

const asksFor = ({ url, request }: PageEvent, name: 'again' | 'more'): boolean =>
	url.searchParams.has(name) || request.method === 'POST';

/** Shows the form that pays again, or while the payment is open or may still succeed only a link to it. */
function describeRetryForm(event: PageEvent, purchase: Purchase) {
	const { action } = purchase.state;
	const again = describeRetry(purchase);
	const mayWait = action === 'wait-or-retry';
	const mayReplace = isAsking(purchase) && again !== null;
	const isAsked = asksFor(event, 'again') && (mayWait || mayReplace);
	const isShown = action === 'retry' || action === 'renew' || isAsked;
	return { again: isShown ? again : null, offersAgain: again !== null && mayWait && !isShown, mayReplace };
}

function describeAddForm(event: PageEvent, purchase: Purchase) {
	const { pass, adding, part } = purchase;
	// The API adds no time to a session that has expired. One with only the fields of the wire format adds none.
	const hasTime = pass !== null && !pass.session.isExtra && 'pass_id' in pass.session;
	const mayAdd =
		hasTime && !isOnKiosk(event) && purchase.router.status === 'online' && adding?.action !== 'none';
	const offersAdd = mayAdd && !sellsNothing(limitRouter(purchase));
	// Only on request: pages stay small, and a reload would empty the form.
	const showsAdd = offersAdd && asksFor(event, 'more');
	return { offersAdd, add: showsAdd ? makeAddForm(purchase, part, purchaseToken()) : null };
}

/** The code leads back to a result that is still to come. */
const mayReturn = ({ refreshSeconds }: PurchaseState, { payment }: PurchasePart): boolean =>
	refreshSeconds !== null || payment?.status === 'refund_failed';

export const actions: Actions = {
	retry: payAgain,
	extend: addTime,
	voucher: addVoucher,
	sms: sendCode,
	move: async (event) => moveSlots(event, (await requirePurchase(event)).router.id, ownPath(event)),
	end: endTime
};

/** Counts the payment for the device that the page's path names; null if it is admitted, otherwise the seconds to wait. */
async function takeRetry(event: PageEvent, routerId: number): Promise<number | null> {
	const { token, device = null } = event.params;
	if (device === null) return null;
	const found = await findPurchaseDevice(event.locals.app.captiveSessions, {
		token,
		routerId,
		device
	});
	return found?.isReader ? takeDeviceOrder(event, device, found.entry.clientMac) : null;
}

async function payAgain(event: PageEvent) {
	const purchase = await requirePurchase(event);
	const entry = await readTexts(event.request, ['paymentMethod', 'phone', 'quoted', 'another', 'instead']);
	const refused = (refusal: Refusal) => showAgain(event, { retried: entry }, refusal);
	const errors = findRetryProblems(purchase, entry);
	if (Object.keys(errors).length > 0) return refused({ status: 400, errors });
	const wait = await takeRetry(event, purchase.router.id);
	if (wait !== null) return refused(refuseUnpaid(wait));
	let token: string;
	try {
		token = await sendRetry(event, event.params.token, purchase, entry);
	} catch (problem) {
		const before = earlierOrderIn(problem);
		if (before) {
			const money = formatMoney(Number(entry.quoted), purchase.session.currency);
			const earlier = describeNotice(event, before, { fields: { ...entry }, money });
			return fail(409, { retried: entry, earlier });
		}
		return refused(explainRefusal(event, problem));
	}
	if (token !== event.params.token)
		await moveToPurchase(event.locals.app.captiveSessions, event.params.token, token);
	redirect(303, ownPath(event, token));
}

/** Sends the code, and leads back to the page. */
async function sendCode(event: PageEvent): Promise<never> {
	const { token } = event.params;
	await queueCode(event, token, await requirePurchase(event));
	redirect(303, ownPath(event));
}

/** The router with what it can add to the pass of a purchase. */
const limitRouter = ({ router, session }: Purchase) => sellingTo(router, session.offer ?? {});

function makeAddForm(bought: Purchase, { session, payment }: PurchasePart, purchase: string) {
	const offer = describeForm(limitRouter(bought));
	const usual = usualChoice(offer.choices);
	const entry = {
		...EMPTY_ENTRY,
		time: usual ? timeValue(usual) : '',
		paymentMethod: session.payment_method,
		phone: numberInField(payment?.phone ?? session.phone),
		purchase
	};
	return { router: offer, entry };
}

/** Adds time to the pass of a purchase. A repeated form adds it once. */
async function addTime(event: PageEvent) {
	return answerPayForm(
		event,
		async () => limitRouter(await requirePurchase(event)),
		async (formToken, form, another, { id: routerId }) => {
			const { token } = event.params;
			const { purchases } = event.locals.app;
			const wait = await takeRetry(event, routerId);
			if (wait !== null) return refuseUnpaid(wait);
			const orderer = readOrderer(event, another);
			await extendPurchase(purchases, apiClient(event), token, { ...form, token: formToken }, orderer);
			return ownPath(event);
		},
		() => ownPath(event)
	);
}

async function addVoucher(event: PageEvent) {
	const { router, session, part, added } = await requirePurchase(event);
	const { code: typed, purchase } = await readTexts(event.request, ['code', 'purchase']);
	const code = readVoucherCode(typed);
	const { token } = event.params;
	const sessionId = findLastActive([{ ...part, session }, ...added])?.id ?? null;
	const at = { captiveSession: null, routerId: router.id, adds: { token, routerId: router.id, sessionId } };
	const answer = code && (await redeemTyped(event, code, purchase, at));
	const refused = (status: number, why: string) => fail(status, { voucher: { code: typed, why } });
	if (!answer) return refused(404, m.redeem_unknown());
	if ('why' in answer) return refused(answer.status, answer.why);
	redirect(303, ownPath(event, answer.token));
}

function formatEndText(session: SessionBody, signIn: SignIn): string {
	if (session.access.kind === 'shared_password') return m.purchase_end_text_shared();
	return takesCode(session, signIn) ? m.purchase_end_text_login() : m.purchase_end_text();
}

/** Ends the running time, including added time. Repeating it changes nothing. */
async function endTime(event: PageEvent): Promise<never> {
	const { session, added } = await requirePurchase(event);
	const active = [session, ...added.map((part) => part.session)].filter(
		({ status, isExtra }) => status === 'active' && !isExtra
	);
	active.sort((a, b) => Date.parse(a.starts_at ?? '') - Date.parse(b.starts_at ?? ''));
	const [first] = active;
	try {
		if (first) await orUnavailable(apiClient(event).endSession(first.id), m.purchase_unreachable());
	} catch (problem) {
		if (!(problem instanceof Refused && problem.reason === 'session_not_active')) throw problem;
	}
	redirect(303, ownPath(event));
}
