import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { HINT_AFTER_SECONDS } from '#lib/checkout/purchase/state.ts';
import { apiClient, ApiProblem } from '#lib/server/portal/api-client.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { clockText } from '#lib/format/when.ts';
import { orCalmly } from '../../api-errors.ts';
import { addForm, addTime } from './add-time.ts';
import { adoptVisit, deviceOf, goOnline, isLetIn, watchText } from './go-online.ts';
import { findPurchase } from './purchase.ts';
import { pageAddress, shortLines } from './receipt.ts';
import { payAgain, priceAgain, retryForm } from './retry.ts';
import type { Actions, PageServerLoad } from './$types';
import { shownOf } from './view.ts';
import { endText, moveTo } from './move-to.ts';
import { takesCode, wayIn } from './sign-in-instructions.ts';

export const load: PageServerLoad = async (event) => {
	const purchase = await findPurchase(event);
	await adoptVisit(event);
	// This purchase goes on in the one that replaced it; the old address leads there.
	if (purchase.successor !== null && event.request.method === 'GET') {
		await event.locals.app.captiveSessions.carry(event.params.token, purchase.successor);
		redirect(303, link(`/s/${purchase.successor}`));
	}
	const { config, clock, purchases } = event.locals.app;
	const { router, session, code } = purchase;
	const now = new Date(clock.now());
	const { state, added, pass, part, waiting, notes, watch } = shownOf(purchase, now, config.reportTimezone);

	const isOnline = router.status === 'online';
	const isSent = event.request.method === 'POST';
	const price = priceAgain(purchase);
	const canPayAgain = price !== null && (session.status === 'pending_payment' || isOnline);
	const asksAgain = event.url.searchParams.has('again') || isSent;
	const showsAgain =
		canPayAgain &&
		(state.action === 'retry' || state.action === 'renew' || (state.action === 'wait-or-retry' && asksAgain));

	const canAdd = pass !== null && isOnline && added?.action !== 'none';
	const asksMore = event.url.searchParams.has('more') || isSent;
	// Who asks for it gets the form, and who was refused: not every page, which must stay small, and not while the money's
	// fate is open, when the page loads itself again and would sweep a form away.
	const showsAdd = canAdd && (asksMore || (added !== null && added.refreshSeconds === null));
	const address = pageAddress(event.locals.origin, event.params.token);
	const asked = waiting?.payment ?? part.payment;
	const device = pass && (await deviceOf(event, router.id));

	const signIn = pass ? await event.locals.app.gateways.signInMethodAt(router.id) : 'typed';
	// Where a device has joined already, what comes next stands below, and so it does where a code is typed.
	const asksCode = pass !== null && takesCode(pass.session, signIn);
	const text = asksCode || isLetIn(device) ? '' : state.text;
	return {
		state: { ...state, text, next: asksCode ? m.purchase_code_text() : state.next },
		brand: showBrand(event, router),
		added,
		watch: watchText(watch, device),
		code,
		router: { id: router.id, name: router.name },
		ssid: apart(session.ssid),
		isWaiting: waiting !== null,
		money: formatMoney(asked?.amount ?? session.amount, session.currency),
		notes,
		lines: shortLines(purchase),
		asOf: clockText(now, config.reportTimezone),
		ageSeconds: asked ? Math.max(0, (now.getTime() - Date.parse(asked.created_at)) / 1000) : 0,
		hintAfterSeconds: HINT_AFTER_SECONDS,
		pass: pass && {
			way: wayIn(pass.session, { place: device ? 'gateway' : 'page', signIn, code }),
			remainingSeconds: pass.remainingSeconds,
			totalSeconds: pass.totalSeconds,
			warnSeconds: pass.warnSeconds
		},
		online:
			device &&
			goOnline(event, device, { page: link(`/s/${event.params.token}`), ssid: apart(session.ssid), signIn }),
		again: showsAgain ? retryForm(purchase, price, config.defaultRegion) : null,
		offersAgain: canPayAgain && state.action === 'wait-or-retry' && !asksAgain,
		add: showsAdd
			? { ...addForm(purchase, part, purchases.newToken()), hint: phoneHint(config.defaultRegion) }
			: null,
		endText: endText(session, signIn),
		offersAdd: canAdd,
		asksMore,
		move: pass && moveTo(pass.session, { address, code, signIn }),
		address
	};
};

export const actions: Actions = {
	retry: payAgain,
	extend: addTime,

	/** The device on which the purchase was last opened takes the place of the others. */
	move: async (event) => {
		const { token } = event.params;
		const isMoved = await event.locals.app.captiveSessions.move(token);
		redirect(303, link(`/s/${token}`) + (isMoved ? '?moved' : '?later'));
	},

	/** Ends running time, and what was added to it, before its end. Asked twice, it has ended once. */
	end: async (event) => {
		const { session, added } = await findPurchase(event);
		const active = [session, ...added.map((part) => part.session)].filter(
			({ status }) => status === 'active'
		);
		active.sort((a, b) => Date.parse(a.starts_at ?? '') - Date.parse(b.starts_at ?? ''));
		const [first] = active;
		try {
			if (first) await orCalmly(apiClient(event).endSession(first.id), m.purchase_unreachable());
		} catch (problem) {
			if (!(problem instanceof ApiProblem && problem.code === 'session_not_active')) throw problem;
		}
		redirect(303, link(`/s/${event.params.token}`));
	}
};
