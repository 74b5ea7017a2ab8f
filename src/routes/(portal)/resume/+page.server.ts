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
import { makePhoneHint } from '#lib/purchase/phone-hint.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import { type Resumed, resumeByCode, resumeByPayment } from '#lib/server/portal/resume.ts';
import { openCaptiveSession } from '#lib/server/gateways/captive-sessions.ts';
import { isCaptiveSessionId } from '#lib/server/gateways/captive-sessions.ts';

interface Refused {
	status: 400 | 404 | 429;
	why: string;
	/** The code opens with the number that paid. */
	asksNumber?: boolean;
}

/** Returns the captive session of a device from the splash page, which the purchase then connects. */
function findCaptiveSessionId({ url }: RequestEvent): string | null {
	const id = captiveSessionIn(url);
	return id !== null && isCaptiveSessionId(id) ? id : null;
}

interface Typed {
	code: string;
	phone: string;
	/** null unless the payment finds the purchase. */
	transaction: string | null;
}

/** Redirects to the purchase of a code or of a payment, or returns the problem. */
async function openTyped(event: RequestEvent, { code, phone, transaction }: Typed): Promise<Refused> {
	if (transaction === null ? code === '' : transaction === '' || phone === '') {
		return { status: 400, why: transaction === null ? m.resume_empty() : m.resume_no_code_text() };
	}
	const { captiveSessions, purchases } = event.locals.app;
	const captiveSession = findCaptiveSessionId(event);
	const found =
		captiveSession === null ? null : await openCaptiveSession(captiveSessions, null, captiveSession);
	const visitor = { network: networkOf(event.locals.clientAddress()), captiveSession: found?.device ?? null };
	const api = apiClient(event);
	const opening: Promise<Resumed> =
		transaction === null
			? resumeByCode(purchases, api, { code, phone }, visitor)
			: resumeByPayment(purchases, api, { transaction, phone }, visitor);
	const opened = await orUnavailable(opening, m.purchase_unreachable());
	const asksNumber = transaction === null && phone !== '';
	switch (opened.kind) {
		case 'found':
			redirect(303, withCaptiveSession(link(`/s/${opened.token}`), captiveSession));
			break;
		case 'limited':
			event.setHeaders({ 'retry-after': String(opened.retryAfterSeconds) });
			return { status: 429, why: formatLimited(opened.retryAfterSeconds), asksNumber };
		case 'crowded':
			return asksNumber
				? { status: 404, why: m.resume_unknown_number(), asksNumber }
				: { status: 429, why: m.resume_crowded(), asksNumber: true };
		default:
			return { status: 404, why: transaction === null ? m.resume_unknown() : m.resume_transaction_unknown() };
	}
}

/** Limits typed text that is shown again. */
const MAX_SHOWN = 32;

/** `?code=K7MQ-29XT` works like the form, for links and QR codes. */
export const load: PageServerLoad = async (event) => {
	const code = (event.url.searchParams.get('code') ?? '').slice(0, MAX_SHOWN);
	const hint = makePhoneHint(event.locals.app.config.defaultRegion);
	/** With the captive session, so that a change of language keeps it. */
	const action = withCaptiveSession(link('/resume'), findCaptiveSessionId(event));
	const form = { code, transaction: '', phone: '', action, hint, isByPayment: false };
	if (code === '' || event.request.method !== 'GET') return { ...form, why: null, asksNumber: false };
	const { why, asksNumber = false } = await openTyped(event, { code, phone: '', transaction: null });
	return { ...form, why, asksNumber };
};

export const actions: Actions = {
	/** Opens the purchase of a posted form, by its code or by its payment. */
	async default(event) {
		const form = await readForm(event.request);
		const { code, transaction, phone } = readTexts(form, ['code', 'transaction', 'phone']);
		const isByPayment = form.has('transaction');
		const typed = { code, phone, transaction: isByPayment ? transaction : null };
		const { status, why, asksNumber = false } = await openTyped(event, typed);
		const shown = { code: code.slice(0, MAX_SHOWN), transaction, phone: phone.slice(0, MAX_SHOWN) };
		return fail(status, { ...shown, why, asksNumber, isByPayment });
	}
};
