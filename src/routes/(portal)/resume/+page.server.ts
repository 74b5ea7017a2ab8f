import type { Actions, PageServerLoad } from './$types';
import {
	captiveSessionIn,
	formatLimited,
	orUnavailable,
	readTexts,
	withCaptiveSession
} from '#lib/server/portal/pages.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { makePhoneHint } from '#lib/domain/phone.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import {
	type Resumed,
	readPageToken,
	readTyped,
	resumeByCode,
	resumeByPayment
} from '#lib/server/portal/resume.ts';
import { openCaptiveSession, isCaptiveSessionId } from '#lib/server/gateways/captive-sessions.ts';
import { purchaseToken } from '#lib/server/platform/secrets.ts';
import { redeemTyped } from '#lib/server/portal/redeem.ts';
import { idOf } from '#lib/server/web/page-links.ts';

interface OpenProblem {
	status: 400 | 404 | 409 | 429;
	why: string;
	/** The code or the transaction ID opens with the number that paid. */
	asksNumber?: boolean;
	/** The transaction ID that was found in the typed text. */
	code?: string;
	isPayment?: boolean;
	/** Why a voucher buys nothing. */
	isVoucher?: boolean;
}

/** Returns the captive session of a device from the splash page, which the purchase then connects. */
function findCaptiveSessionId({ url }: RequestEvent): string | null {
	const id = captiveSessionIn(url);
	return id !== null && isCaptiveSessionId(id) ? id : null;
}

/**
 * Redirects to the purchase of a code, a voucher, or a payment and its number, or returns the problem.
 * @param token of a posted form; null if the address has the code: then no voucher is redeemed
 */
async function openTyped(
	event: RequestEvent,
	typed: string,
	phone: string,
	token: string | null
): Promise<OpenProblem> {
	if (typed === '') return { status: 400, why: m.resume_empty() };
	const { code, voucher, transaction } = readTyped(typed, phone !== '');
	const { captiveSessions, purchases } = event.locals.app;
	const id = findCaptiveSessionId(event);
	const captiveSession = id === null ? null : await openCaptiveSession(captiveSessions, null, id);
	const visitor = {
		network: networkOf(event.locals.clientAddress()),
		captiveSession: captiveSession?.device ?? null
	};
	const api = apiClient(event);
	const show = (opened: string) => redirect(303, withCaptiveSession(link(`/s/${opened}`), id));
	const page = readPageToken(typed);
	if (page !== null) show(page);
	const open = async (work: Promise<Resumed>) => {
		const opened = await orUnavailable(work, m.purchase_unreachable());
		return opened.kind === 'found' ? show(opened.token) : opened;
	};
	if (voucher !== null && token !== null) {
		const routerId = idOf(event.url.searchParams.get('router')) || null;
		const redeemed = await redeemTyped(event, voucher, token, { captiveSession, routerId });
		if (redeemed) return 'token' in redeemed ? show(redeemed.token) : { ...redeemed, isVoucher: true };
	}
	if (code !== null) {
		const { kind } = await open(resumeByCode(purchases, api, { code, phone }, visitor));
		if (kind === 'crowded') {
			return phone === ''
				? { status: 429, why: m.resume_crowded(), asksNumber: true }
				: { status: 404, why: m.resume_unknown_number(), asksNumber: true };
		}
		// Eight digits may be a transaction ID as well.
		if (/\D/.test(code)) return { status: 404, why: m.resume_unknown(), asksNumber: phone !== '' };
	}
	if (transaction === null) return { status: 404, why: m.resume_unknown() };
	const asks = { code: transaction, asksNumber: true, isPayment: true };
	if (phone === '') return { status: 400, why: m.resume_number(), ...asks };
	const opened = await open(resumeByPayment(purchases, api, { transaction, phone }, visitor));
	if (opened.kind !== 'limited') return { status: 404, why: m.resume_transaction_unknown(), ...asks };
	event.setHeaders({ 'retry-after': String(opened.retryAfterSeconds) });
	return { status: 429, why: formatLimited(opened.retryAfterSeconds), ...asks };
}

/** Limits typed text that is shown again. */
const MAX_SHOWN = 1_000;

/**
 * `?code=K7MQ-29XT` works like the form, for links and QR codes. The code of a voucher waits in the form: cameras and
 * messengers open addresses, and its time would start.
 */
export const load: PageServerLoad = async (event) => {
	const { searchParams } = event.url;
	const code = (searchParams.get('code') ?? '').slice(0, MAX_SHOWN);
	const hint = makePhoneHint(event.locals.app.config.defaultRegion);
	const router = idOf(searchParams.get('router'));
	/** With the captive session or the router, so that a change of language keeps it. */
	const action =
		router > 0
			? link(`/resume?router=${router}`)
			: withCaptiveSession(link('/resume'), findCaptiveSessionId(event));
	const isWaiting = readTyped(code, false).voucher !== null;
	const shown = { code, phone: '', why: null, asksNumber: false, isPayment: false, isVoucher: false };
	const page = { ...shown, action, hint, token: purchaseToken(), isWaiting };
	if (code === '' || isWaiting || event.request.method !== 'GET') return page;
	return { ...page, ...(await openTyped(event, code, '', null)) };
};

export const actions: Actions = {
	/** Opens the purchase of a posted form. */
	async default(event) {
		const { code, phone, purchase } = await readTexts(event.request, ['code', 'phone', 'purchase']);
		const shown = {
			code: code.slice(0, MAX_SHOWN),
			phone: phone.slice(0, MAX_SHOWN),
			asksNumber: false,
			isPayment: false,
			isVoucher: false
		};
		const refused = await openTyped(event, code, phone, purchase);
		return fail(refused.status, { ...shown, ...refused });
	}
};
