import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readTexts } from '#lib/checkout/pay-form.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { CAPTIVE_SESSION_ID_PATTERN } from '#lib/server/platform/ids.ts';
import { networkOf } from '#lib/server/api/http/request-limits.ts';
import { orUnavailable, readForm } from './api-errors.ts';
import { captiveSessionIn, withCaptiveSession } from './splash/captive-session-address.ts';

interface Refused {
	status: 400 | 404 | 429;
	why: string;
	/** The code opens with the number that paid. */
	asksNumber?: boolean;
}

type Resumed = Awaited<ReturnType<RequestEvent['locals']['app']['purchases']['resume']>>;

/** Returns the captive session of a device from the splash page, which the purchase then connects. */
function captiveSessionOf(url: URL): string | null {
	const id = captiveSessionIn(url);
	return id !== null && CAPTIVE_SESSION_ID_PATTERN.test(id) ? id : null;
}

/** Returns whom a try counts for: a captive session, or else the network. */
async function visitorOf(event: RequestEvent, captiveSession: string | null) {
	const { captiveSessions } = event.locals.app;
	const found = captiveSession === null ? null : await captiveSessions.find(null, captiveSession);
	return { network: networkOf(event), captiveSession: found?.id ?? null };
}

/** Redirects to the purchase of a code, or returns the problem. */
async function open(
	event: RequestEvent,
	{ code, phone }: { code: string; phone: string },
	captiveSession: string | null
): Promise<Refused> {
	if (code === '') return { status: 400, why: m.resume_empty() };
	const { purchases } = event.locals.app;
	const kind = await follow(
		event,
		purchases.resume(apiClient(event), { code, phone }, await visitorOf(event, captiveSession)),
		captiveSession
	);
	switch (kind) {
		case 'unknown':
			return { status: 404, why: m.resume_unknown() };
		case 'crowded': {
			const why = phone === '' ? m.resume_crowded() : m.resume_unknown_number();
			return { status: phone === '' ? 429 : 404, why, asksNumber: true };
		}
		default:
			return { ...kind, asksNumber: phone !== '' };
	}
}

/** Redirects to the purchase of a payment, or returns the problem. */
async function openByPayment(
	event: RequestEvent,
	typed: { transaction: string; phone: string },
	captiveSession: string | null
): Promise<Refused> {
	if (typed.transaction === '' || typed.phone === '') return { status: 400, why: m.resume_no_code_text() };
	const { purchases } = event.locals.app;
	const kind = await follow(
		event,
		purchases.resumeByPayment(apiClient(event), typed, await visitorOf(event, captiveSession)),
		captiveSession
	);
	return typeof kind === 'object' ? kind : { status: 404, why: m.resume_transaction_unknown() };
}

/** Redirects to a found purchase. Otherwise returns the kind of the result, or the refusal of a limit. */
async function follow(
	event: RequestEvent,
	result: Promise<Resumed>,
	captiveSession: string | null
): Promise<'unknown' | 'crowded' | Refused> {
	const opened = await orUnavailable(result, m.purchase_unreachable());
	if (opened.kind === 'found') {
		redirect(303, withCaptiveSession(link(`/s/${opened.token}`), captiveSession));
	}
	if (opened.kind !== 'limited') return opened.kind;
	const seconds = opened.retryAfterSeconds;
	event.setHeaders({ 'retry-after': String(seconds) });
	const why =
		seconds < MAX_SECONDS_SHOWN
			? m.resume_limited({ seconds })
			: m.resume_limited_minutes({ minutes: Math.ceil(seconds / 60) });
	return { status: 429, why };
}

/** Longer waits are shown in minutes. */
const MAX_SECONDS_SHOWN = 100;
/** Limits typed text that is shown again. */
const MAX_SHOWN = 32;

/** Returns the data of `/resume`. `?code=K7MQ-29XT` works like the form, for links and QR codes. */
export async function resumePage(event: RequestEvent) {
	const code = (event.url.searchParams.get('code') ?? '').slice(0, MAX_SHOWN);
	const captiveSession = captiveSessionOf(event.url);
	const hint = phoneHint(event.locals.app.config.defaultRegion);
	/** With the captive session, so that a change of language keeps it. */
	const action = withCaptiveSession(link('/resume'), captiveSession);
	const form = { code, transaction: '', phone: '', action, hint, isByPayment: false };
	if (code === '' || event.request.method !== 'GET') return { ...form, why: null, asksNumber: false };
	const { why, asksNumber = false } = await open(event, form, captiveSession);
	return { ...form, why, asksNumber };
}

/** Opens the purchase of a posted form, by its code or by its payment. */
export async function resumePurchase(event: RequestEvent) {
	const form = await readForm(event.request);
	const sent = readTexts(form, ['code', 'transaction', 'phone']);
	const captiveSession = captiveSessionOf(event.url);
	const isByPayment = form.has('transaction');
	const refused = await (isByPayment ? openByPayment : open)(event, sent, captiveSession);
	const { status, why, asksNumber = false } = refused;
	const [code, phone] = [sent.code.slice(0, MAX_SHOWN), sent.phone.slice(0, MAX_SHOWN)];
	return fail(status, {
		...{ code, transaction: sent.transaction, phone },
		why,
		asksNumber,
		isByPayment
	});
}
