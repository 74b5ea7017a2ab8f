import { purchaseToken } from '#lib/server/platform/ids.ts';
import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { sellsNothing } from '#lib/checkout/price.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { dataWords } from '#lib/checkout/purchase/data.ts';
import type { PurchaseState } from '#lib/checkout/purchase/state.ts';
import { waitFor } from '#lib/checkout/purchase/waits.ts';
import type { PurchasePart } from '#lib/server/portal/purchases.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { clockText } from '#lib/format/when.ts';
import { enterAgain } from '../splash/splash.ts';
import { addForm, routerToAdd } from './add-time.ts';
import {
	adoptCaptiveSession,
	readingDevice,
	goOnline,
	isElsewhere,
	isLetIn,
	isOnline,
	mayHaveLeft,
	onlineHeading,
	watchText
} from './go-online.ts';
import { codeBySms } from './code-by-sms.ts';
import { requirePurchase } from './find-purchase.ts';
import { ownPath, pageAddress, type PageEvent } from './page-path.ts';
import { hasReceipt, shortLines } from './receipt.ts';
import { payingAgain } from './retry.ts';
import { purchaseShown, type Purchase, type PurchaseShown } from './purchase-shown.ts';
import { endText } from './end.ts';
import { moveTo, signInInstructions, takesCode, type SignIn } from './sign-in-instructions.ts';

/** Returns the data of the page of a purchase. Redirects to its replacement, or to what the address asks for. */
export async function purchasePage(event: PageEvent) {
	const purchase = await requirePurchase(event);
	await adoptCaptiveSession(event, purchase.router.id);
	// A replaced purchase redirects to its replacement.
	if (purchase.successor !== null && event.request.method === 'GET') {
		await event.locals.app.captiveSessions.moveToPurchase(event.params.token, purchase.successor);
		redirect(303, ownPath(event, purchase.successor));
	}
	const { app } = event.locals;
	const { reportTimezone: timeZone } = app.config;
	const { router, session, code } = purchase;
	const now = new Date(app.clock.now());
	const shown = purchaseShown(app, purchase);
	const { state, added, pass, part, waiting, notes, watch } = shown;
	const payment = waiting?.payment ?? part.payment;
	const buyer = await readingDevice(event, router.id);
	const buyPath = pathToBuy(event, purchase, buyer);
	if (buyer && event.request.method === 'GET' && event.url.searchParams.has('buy')) {
		redirect(303, buyPath === BUY ? await enterAgain(event, buyer) : buyPath);
	}
	const device = pass && buyer && !mayHaveLeft(buyer) ? buyer : null;
	const sms = await codeBySms(event, event.params.token, shown);
	const here = pass && (await app.gateways.signInAt(router.id));
	const signIn = here?.method ?? 'typed';
	const startAddress = device ? null : (here?.startAddress ?? null);
	return {
		page: ownPath(event),
		state: { ...state, ...headingOf(event, shown, { device, signIn }) },
		brand: showBrand(event, router),
		added,
		watch: watchText(watch, device, sms?.state),
		sms,
		code,
		keepsCode: pass === null && mayReturn(state, part),
		routerName: router.name,
		hint: phoneHint(app.config.defaultRegion),
		buyPath,
		isWaiting: waiting !== null,
		money: formatMoney(payment?.amount ?? session.amount, session.currency),
		notes: isElsewhere(event) ? [m.splash_other_router({ name: apart(router.name) }), ...notes] : notes,
		lines: shortLines(purchase, waiting, now, timeZone),
		hasReceipt: hasReceipt(purchase),
		asOf: clockText(now, timeZone),
		waits: waiting?.payment ? waitFor(waiting.payment, now) : null,
		online: goOnline(event, device, { page: ownPath(event), ssid: apart(session.ssid), signIn }),
		/** The buyer's part of the API cannot end extra time. */
		endText: pass?.session.isExtra ? null : endText(session, signIn),
		...passData(event, purchase, shown, { device, signIn, startAddress }),
		...retryForm(event, purchase, shown),
		...addingTime(event, purchase, shown)
	};
}

const BUY = '?buy';

/** Leads to prices; what is bought there connects the same device. */
function pathToBuy({ locals: { app } }: PageEvent, purchase: Purchase, device: Access['device']): string {
	if (!device) return link(`/r/${purchase.router.id}`);
	// At the end of the time, or when nothing let the device in, only a new redirect names it to the gateway.
	const isForgotten = [purchase, ...purchase.added].some(
		({ session }) => session.starts_at !== null || session.status_reason === 'provisioning_failed'
	);
	const hasRedirect = app.captiveSessions.startAddress(device.gateway) !== null;
	const isStale = hasRedirect && (isForgotten || device.isOld || device.entry.state === 'online');
	// Another device may be reading than the one that would get the time.
	const isUnsure = !device.isReader && (hasRedirect || app.captiveSessions.needsDevice(device.gateway));
	return isStale || isUnsure ? link(`/splash/${device.gateway.key}`) : BUY;
}

interface Access {
	device: Awaited<ReturnType<typeof readingDevice>>;
	signIn: SignIn;
}

/** Changes the words of the state for a connected device, and for a buyer who types a code. */
function headingOf(event: PageEvent, { state, pass }: PurchaseShown, { device, signIn }: Access) {
	const asksCode = pass !== null && takesCode(pass.session, signIn);
	return {
		// They find the next step below.
		...((asksCode || isLetIn(device)) && { text: '' }),
		...(asksCode && { next: m.purchase_code_text() }),
		...(isOnline(event, device) && onlineHeading(state))
	};
}

function passData(
	{ locals, params }: PageEvent,
	{ code, router: { hidden } }: Purchase,
	{ pass }: PurchaseShown,
	{ device, signIn, startAddress }: Access & { startAddress: string | null }
) {
	const address = pageAddress(locals.origin, params.token);
	return {
		// Not the whole pass: `__data.json` would give the numbers of its sessions to everyone with the code.
		pass: pass && {
			instructions: signInInstructions(pass.session, {
				...{ shownOn: device ? 'gateway' : 'page', signIn, hidden, code, startAddress }
			}),
			remainingSeconds: pass.remainingSeconds,
			totalSeconds: pass.totalSeconds,
			warnSeconds: pass.warnSeconds,
			data: pass.data && dataWords(pass.data)
		},
		move: pass && moveTo(pass.session, { address, code, signIn })
	};
}

const asksFor = ({ url, request }: PageEvent, name: 'again' | 'more'): boolean =>
	url.searchParams.has(name) || request.method === 'POST';

/** Shows the form that pays again, or while the payment may still succeed only a link to it. */
function retryForm(event: PageEvent, purchase: Purchase, { state: { action } }: PurchaseShown) {
	const again = payingAgain(purchase);
	const mayWait = action === 'wait-or-retry';
	const isShown = action === 'retry' || action === 'renew' || (mayWait && asksFor(event, 'again'));
	return { again: isShown ? again : null, offersAgain: again !== null && mayWait && !isShown };
}

function addingTime(event: PageEvent, purchase: Purchase, { pass, added, part }: PurchaseShown) {
	// The API adds no time to a session that has expired. One with only the fields of the wire format adds none.
	const hasTime = pass !== null && !pass.session.isExtra && 'pass_id' in pass.session;
	const mayAdd = hasTime && purchase.router.status === 'online' && added?.action !== 'none';
	const offersAdd = mayAdd && !sellsNothing(routerToAdd(purchase));
	const asksMore = asksFor(event, 'more');
	// Only on request or after a refusal: pages stay small, and a reload would empty the form.
	const showsAdd = offersAdd && (asksMore || (added !== null && added.refreshSeconds === null));
	return {
		offersAdd,
		asksMore,
		add: showsAdd ? addForm(purchase, part, purchaseToken()) : null
	};
}

/** The code leads back to a result that is still to come. */
const mayReturn = ({ refreshSeconds }: PurchaseState, { payment }: PurchasePart): boolean =>
	refreshSeconds !== null || payment?.status === 'refund_failed';
