import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { formatMoney } from '#lib/domain/money.ts';
import { offeredMethods } from '#lib/domain/payment-methods.ts';
import { formatDuration } from '#lib/domain/time.ts';
import { endsByItself } from '#lib/domain/wifi.ts';
import { momentText } from '#lib/format/words.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import { makePhoneHint } from '#lib/domain/phone.ts';
import {
	EMPTY_ENTRY,
	type EarlierNotice,
	type FormErrors,
	OWN_TIME,
	type PayEntry,
	type Quotation,
	type TimeChoice,
	type WantedTime,
	chargeText,
	describeForm,
	formatAgreed,
	priceText,
	timeValue,
	wantedTime
} from '#lib/purchase/quote.ts';
import { describeState, listWords } from '#lib/purchase/state.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { FIRST_PROMPTS, networkOf } from '#lib/server/http/client-address.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';
import { purchaseToken } from '#lib/server/platform/secrets.ts';
import { apiClient } from './api-client.ts';
import {
	type EarlierOrder,
	type Orderer,
	type OwnOrder,
	type PurchaseForm,
	buyTime,
	earlierOrderIn,
	findOrdered,
	isPriceChanged,
	isRefusedByApi
} from './ordering.ts';
import { LONGEST_WINDOW_MS, waitSeconds } from '#lib/server/rate-limits.ts';
import { showBrand } from './brand.ts';
import {
	ifAvailable,
	isOnKiosk,
	orUnavailable,
	ownPath,
	pagePath,
	purchasePath,
	readTexts,
	withCaptiveSession
} from './pages.ts';
import * as m from '#lib/i18n/messages.js';
import { bindPurchase } from '../gateways/captive-sessions.ts';

/**
 * The pages that sell at a router: what they show, and what a posted pay form does. A buyer pays only the price that
 * was shown: another one is shown first, and so is an earlier order of the number.
 */

const PAY_FIELDS = Object.keys(EMPTY_ENTRY) as (keyof PayEntry)[];

/**
 * Processes a posted PayForm: redirects to the purchase, or returns the form with problems or an unseen
 * price.
 * @param findRouter the router that sells
 * @param captiveSession its device is limited, and the purchase is bound to it
 */
export function placeOrder(
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	captiveSession: { id: string; device: string; entry: { clientMac: string | null } } | null = null
) {
	const { captiveSessions, log, purchases } = event.locals.app;
	const pageOf = async (token: string): Promise<string> => {
		if (!captiveSession) return purchasePath(event, token);
		try {
			const { device } = await bindPurchase(captiveSessions, captiveSession.id, token);
			return pagePath('s', token, device);
		} catch (problem) {
			// The purchase exists, so its page is shown.
			log.error({ err: problem }, 'a captive session could not be bound');
			return pagePath('s', token);
		}
	};
	const order: Order = async (token, form, another, { status }) => {
		if (status !== 'online') return { status: 409, errors: { form: m.router_gone_offline() } };
		const seconds =
			captiveSession && (await takeDeviceOrder(event, captiveSession.device, captiveSession.entry.clientMac));
		if (seconds !== null) return refuseUnpaid(seconds);
		const orderer = readOrderer(event, another, captiveSession?.id);
		return pageOf(await buyTime(purchases, apiClient(event), token, form, orderer));
	};
	return answerPayForm(event, findRouter, order, pageOf, captiveSession?.id);
}

/**
 * Starts the payment. Returns the path of the page to show.
 * @param token of the purchase, also if the form is repeated
 * @param another the earlier order beside which the buyer wants this one; else empty
 */
type Order = (
	token: string,
	form: PurchaseForm,
	another: string,
	router: RouterBody
) => Promise<string | Refusal>;

/**
 * Checks a posted form, then orders. An earlier order of the number is shown first.
 * @param pageOf path of the page that shows what a form with this token began
 */
export async function answerPayForm(
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	order: Order,
	pageOf: (token: string) => string | Promise<string>,
	captiveSession: string | null = null
) {
	const entry = await readTexts(event.request, PAY_FIELDS);
	/**
	 * Shows what this form has ordered already, also if it was changed since: nobody who may have paid reads "You have not
	 * been charged". If the service is away, the page of the purchase asks until it responds; the form would be lost.
	 */
	const showOrdered = async (form: PurchaseForm | null = null) => {
		const ordered = findOrdered(event.locals.app.purchases, apiClient(event), entry.purchase, form);
		const token = await ifAvailable(ordered, entry.purchase);
		if (token !== null) redirect(303, await pageOf(token));
	};
	const refused = async (refusal: Refusal, form?: PurchaseForm) => {
		await showOrdered(form);
		return showAgain(event, { entry }, refusal);
	};
	try {
		const router = await findRouter();
		const wanted = wantedTime(router, entry);
		const errors = findOrderProblems(router, entry, wanted);
		if ('error' in wanted || Object.keys(errors).length > 0) return refused({ status: 400, errors });
		if (!wanted.seen) {
			await showOrdered();
			return { entry: showChosen(entry, wanted), quoted: makeQuotation(wanted, entry.pays !== '') };
		}
		const form = makePurchaseForm(router, entry, wanted.choice);
		const result = await order(entry.purchase, form, entry.another, router).catch((problem: unknown) => {
			const earlier = earlierOrderIn(problem);
			if (earlier) return earlier;
			throw problem;
		});
		if (typeof result === 'string') redirect(303, result);
		if (!('mark' in result)) return refused(result, form);
		const { money } = wanted.choice;
		const fields = { ...showChosen(entry, wanted) };
		return fail(409, { entry, earlier: describeNotice(event, result, { fields, money, captiveSession }) });
	} catch (problem) {
		// Throws a redirect again.
		return refused(explainRefusal(event, problem));
	}
}

/** Finds by field what keeps a form from being an order. */
function findOrderProblems(router: RouterBody, entry: PayEntry, wanted: WantedTime): FormErrors {
	const method = offeredMethods(router.payment_methods).includes(entry.paymentMethod)
		? 'choice' in wanted && chargeText(router, entry.paymentMethod, wanted.choice.amount)
		: m.router_choose_method();
	return {
		...('error' in wanted && { [wanted.gone ? 'form' : 'time']: wanted.error }),
		...(method && { paymentMethod: method }),
		...(entry.phone === '' && { phone: m.router_type_number() })
	};
}

const makePurchaseForm = (router: RouterBody, entry: PayEntry, choice: TimeChoice): PurchaseForm => ({
	routerId: router.id,
	duration: choice.duration,
	offerId: choice.offer?.id ?? null,
	paymentMethod: entry.paymentMethod,
	phone: entry.phone,
	amount: choice.amount,
	currency: router.currency
});

/** Returns the entries for a form with a new price, at which the tile is found; a typed time becomes the chosen one. */
const showChosen = (entry: PayEntry, { own, choice }: Pick<Quotation, 'own' | 'choice'>): PayEntry => ({
	...entry,
	time: own ? OWN_TIME : timeValue(choice)
});

/** @param changed the button's price is for another time than the chosen one */
function makeQuotation({ choice, own }: Omit<Quotation, 'why'>, changed: boolean): Quotation {
	const price = { time: choice.words, money: choice.money };
	const why = own || changed ? m.router_price_of_time(price) : m.router_price_is_new(price);
	return { choice, own, why };
}

/**
 * Returns the data of RouterOffer.svelte. `router` is null if only a posted form can be shown.
 * @param isJoined the device is connected to the Wi-Fi already, and needs no password for it
 */
export async function readPayPage(
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	isJoined = false
) {
	// A posted form is shown without the router.
	return describePayPage(
		event,
		await (event.request.method === 'POST'
			? ifAvailable(findRouter(), null)
			: orUnavailable(findRouter(), m.common_prices_unreachable())),
		isJoined
	);
}

export async function describePayPage(event: RequestEvent, router: RouterBody | null, isJoined = false) {
	const { config } = event.locals.app;
	return {
		/** `note`: a warning before the payment. */
		router: router && { ...describeForm(router), note: formatPayNote(router, isJoined) },
		brand: showBrand(event, router),
		price: router ? priceText(router) : '',
		online: router?.status === 'online',
		closed: await readClosedText(event, router),
		hint: makePhoneHint(config.defaultRegion),
		purchase: purchaseToken()
	};
}

/** Warns of a password that we do not have or that all guests share. */
function formatPayNote(
	{ access_kind, network_password_provided }: RouterBody,
	isJoined = false
): string | null {
	if (!endsByItself(access_kind)) return m.router_shared();
	return network_password_provided !== false || isJoined ? null : m.router_ask_password();
}

/** Returns when the closed ones of these routers open automatically, as text by id. Others are missing. */
export async function readOpeningTexts(
	{ locals: { app } }: Pick<RequestEvent, 'locals'>,
	routers: readonly { id: number; status: string }[]
): Promise<Map<number, string>> {
	const { openingTimes, clock, config } = app;
	const closed = routers.filter(({ status }) => status !== 'online');
	if (openingTimes === null || closed.length === 0) return new Map();
	const times = await openingTimes(closed.map(({ id }) => id));
	const now = new Date(clock.now());
	return new Map([...times].map(([id, at]) => [id, momentText(new Date(at), now, config.reportTimezone)]));
}

/** Says that the owner has closed a router, and until when. Returns null if it is not closed. */
async function readClosedText(
	event: Pick<RequestEvent, 'locals'>,
	router: RouterBody | null
): Promise<string | null> {
	if (router?.status_reason !== 'closed') return null;
	const time = (await readOpeningTexts(event, [router])).get(router.id);
	return time === undefined ? m.router_closed() : m.router_closed_until({ time });
}

/** The buyer was not charged and may retry. */
export interface Refusal {
	status: 400 | 404 | 409 | 429 | 503;
	errors: FormErrors;
	headers?: Record<string, string>;
}

/** A device or a router has too many unpaid payments. */
export function refuseUnpaid(seconds: number): Refusal {
	const form = m.router_many_unpaid({ time: formatDuration(`${Math.ceil(seconds / 60)}m`) });
	return { status: 429, errors: { form }, headers: { 'retry-after': String(seconds) } };
}

/** An older API sends no time. */
const LONGEST_WAIT_SECONDS = 15 * 60;

/** Explains a refused order by field. @throws errors that are not refusals */
export function explainRefusal({ locals }: RequestEvent, problem: unknown): Refusal {
	if (problem instanceof Unavailable) {
		const { waitSeconds: seconds } = problem;
		const form = seconds === null ? m.purchase_service_unreachable() : m.purchase_busy_again({ seconds });
		return { status: 503, errors: { form } };
	}
	if (isPriceChanged(problem)) return { status: 400, errors: { form: m.purchase_price_changed() } };
	if (!isRefusedByApi(problem)) throw problem;
	const waitSeconds = Number(problem.extensions.retry_after ?? LONGEST_WAIT_SECONDS);
	if (problem.reason === 'unpaid_prompt_limit') return refuseUnpaid(waitSeconds);
	return { status: 400, errors: explainErrors(problem.reason, waitSeconds, locals.app.config.defaultRegion) };
}

function explainErrors(code: string, waitSeconds: number, region: string): FormErrors {
	switch (code) {
		case 'invalid_phone': {
			const { country, example } = makePhoneHint(region);
			return { phone: m.router_number_wrong({ country, example: apart(example) }) };
		}
		case 'offer_not_available':
		case 'duration_not_offered':
		case 'duration_not_allowed':
			return { form: m.router_offer_gone() };
		case 'payment_method_not_supported':
			return { paymentMethod: m.router_method_refused() };
		case 'payer_prompt_limit':
			return {
				phone: m.router_number_prompt_limit({ time: formatDuration(`${Math.ceil(waitSeconds / 60)}m`) })
			};
		case 'router_unavailable':
			return { form: m.router_gone_offline() };
		default:
			return { form: m.router_not_started() };
	}
}

/** Shows a refused form again, with what was typed. */
export function showAgain<Typed extends object>(
	event: RequestEvent,
	typed: Typed,
	{ status, errors, headers = {} }: Refusal
) {
	event.setHeaders(headers);
	return fail(status, { ...typed, errors });
}

export const readOrderer = (
	event: RequestEvent,
	another: string,
	captiveSession: string | null = null
): Orderer => ({ network: networkOf(event.locals.clientAddress()), another, captiveSession });

interface Asked {
	/** The form, without its `another`. */
	fields: Readonly<Record<string, string>>;
	/** Price of another order. */
	money: string;
	/** The device that opens the purchase, if the form is on a splash page. */
	captiveSession?: string | null;
}

/** Describes an earlier order: what it is to its proven buyer; to others only that there is one. */
export function describeNotice(
	event: RequestEvent,
	{ mark, own }: EarlierOrder,
	asked: Asked
): EarlierNotice {
	const { fields, money, captiveSession = null } = asked;
	const path = findEarlierPath(event, own);
	return {
		...describeEarlier(own, new Date(event.locals.app.clock.now())),
		href: path && withCaptiveSession(path, captiveSession),
		link: own ? m.router_earlier_show() : m.splash_paid_code(),
		button: m.router_earlier_another({ money }),
		fields: { ...fields, another: mark }
	};
}

function findEarlierPath(event: RequestEvent, own: EarlierOrder['own']): string | null {
	if (own === null) return isOnKiosk(event) ? null : link('/resume');
	const { token, device } = event.params;
	// Its own page keeps the name of the device.
	return own.token === token ? ownPath({ params: { token, device } }) : purchasePath(event, own.token);
}

function describeEarlier(own: EarlierOrder['own'], now: Date): Pick<EarlierNotice, 'title' | 'texts'> {
	const notAgain = m.router_earlier_not_again();
	if (own === null)
		return { title: m.router_earlier_other(), texts: [notAgain, m.router_earlier_other_text()] };
	if (own.state === 'unpaid') return describeUnpaid(own, now);
	const time = formatAgreed(own.duration, own.part?.session.offer ?? null);
	const { minutesAgo: minutes } = own;
	const title =
		minutes === 0
			? m.router_earlier_just_paid({ time })
			: m.router_earlier_paid({ time, ago: formatDuration(`${minutes}m`) });
	return { title, texts: [notAgain] };
}

/**
 * Says what the page of the order says, except that a request on the phone is another one than this form's. Of an order
 * whose payment is not there yet it says no more: another process may be about to ask for it.
 */
function describeUnpaid({ amount, currency, part }: OwnOrder, now: Date) {
	const notAgain = m.router_earlier_not_again();
	const state = part && describeState(part.session, part.payment, listWords(part), now);
	if (state === null || state.kind === 'not-asked')
		return { title: m.router_earlier_other(), texts: [notAgain] };
	const { kind, title, text } = state;
	if (kind === 'waiting')
		return { title: m.router_earlier_open({ money: formatMoney(amount, currency) }), texts: [notAgain] };
	return { title, texts: kind === 'unsent' ? [text] : [text, notAgain] };
}

/** Orders of one captive session in LONGEST_WINDOW_MS. */
const ORDERS_PER_CAPTIVE_SESSION = 10;

/**
 * Counts an order, or a payment of it, of a device that a gateway redirected. Tells the API about the device, so that one
 * guest with many orders does not stop the others of the network.
 * @param name of its captive session
 * @param mac as the device says
 * @returns null if the order is admitted, otherwise the seconds to wait
 */
export async function takeDeviceOrder(event: RequestEvent, name: string, mac: string | null) {
	const { rateLimits } = event.locals.app;
	const decision = await rateLimits.take(`order:${name}`, ORDERS_PER_CAPTIVE_SESSION, LONGEST_WINDOW_MS);
	if (!decision.admitted) return waitSeconds(decision);
	const orders = ORDERS_PER_CAPTIVE_SESSION - decision.remaining;
	event.locals.redirectedDevice = { mac, isFirst: orders <= FIRST_PROMPTS };
	return null;
}
