import type { Actions, PageServerLoad } from './$types';
import {
	captiveSessionIn,
	formatLimited,
	orUnavailable,
	readForm,
	withCaptiveSession
} from '#lib/server/web/portal/pages.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readTexts } from '#lib/purchase/pay-form.ts';
import { makePhoneHint } from '#lib/domain/phone.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import { type Resumed, readTyped, resumeByCode, resumeByPayment } from '#lib/server/portal/resume.ts';
import { openCaptiveSession, isCaptiveSessionId } from '#lib/server/gateways/captive-sessions.ts';

interface Refused {
	status: 400 | 404 | 429;
	why: string;
	/** The code or the transaction ID opens with the number that paid. */
	asksNumber?: boolean;
	/** The transaction ID that was found in the typed text. */
	code?: string;
	isPayment?: boolean;
}

/** Returns the captive session of a device from the splash page, which the purchase then connects. */
function findCaptiveSessionId({ url }: RequestEvent): string | null {
	const id = captiveSessionIn(url);
	return id !== null && isCaptiveSessionId(id) ? id : null;
}

/** Redirects to the purchase of a code, or of a payment and its number, or returns the problem. */
async function openTyped(event: RequestEvent, typed: string, phone: string): Promise<Refused> {
	if (typed === '') return { status: 400, why: m.resume_empty() };
	const { code, transaction } = readTyped(typed, phone !== '');
	const { captiveSessions, purchases } = event.locals.app;
	const captiveSession = findCaptiveSessionId(event);
	const found =
		captiveSession === null ? null : await openCaptiveSession(captiveSessions, null, captiveSession);
	const visitor = { network: networkOf(event.locals.clientAddress()), captiveSession: found?.device ?? null };
	const api = apiClient(event);
	const open = async (work: Promise<Resumed>) => {
		const opened = await orUnavailable(work, m.purchase_unreachable());
		if (opened.kind === 'found')
			redirect(303, withCaptiveSession(link(`/s/${opened.token}`), captiveSession));
		return opened;
	};
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
const MAX_SHOWN = 64;

/** `?code=K7MQ-29XT` works like the form, for links and QR codes. */
export const load: PageServerLoad = async (event) => {
	const code = (event.url.searchParams.get('code') ?? '').slice(0, MAX_SHOWN);
	const hint = makePhoneHint(event.locals.app.config.defaultRegion);
	/** With the captive session, so that a change of language keeps it. */
	const action = withCaptiveSession(link('/resume'), findCaptiveSessionId(event));
	const shown = { code, phone: '', action, hint, why: null, asksNumber: false, isPayment: false };
	if (code === '' || event.request.method !== 'GET') return shown;
	return { ...shown, ...(await openTyped(event, code, '')) };
};

export const actions: Actions = {
	/** Opens the purchase of a posted form. */
	async default(event) {
		const { code, phone } = readTexts(await readForm(event.request), ['code', 'phone']);
		const shown = {
			code: code.slice(0, MAX_SHOWN),
			phone: phone.slice(0, MAX_SHOWN),
			asksNumber: false,
			isPayment: false
		};
		const refused = await openTyped(event, code, phone);
		return fail(refused.status, { ...shown, ...refused });
	}
};
