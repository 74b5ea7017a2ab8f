import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readTexts } from '#lib/checkout/pay-form.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { networkOf } from '#lib/server/api/http/request-limits.ts';
import { orUnavailable, readForm } from '../api-errors.ts';
import type { Actions, PageServerLoad } from './$types';

interface Refused {
	status: 400 | 404 | 429;
	why: string;
	asksNumber: boolean;
}

/** The captive session of a device from the splash page, which the purchase then connects; or ''. */
const captiveSessionOf = (given: string | null) => (/^[\w-]{24}$/.test(given ?? '') ? (given ?? '') : '');

/** Redirects to the purchase of a code, or returns the problem. */
async function open(
	event: RequestEvent,
	{ code, phone }: { code: string; phone: string },
	visit: string
): Promise<Refused> {
	if (code === '') return { status: 400, why: m.resume_empty(), asksNumber: false };
	const { purchases } = event.locals.app;
	const opened = await orUnavailable(
		purchases.resume(apiClient(event), { code, phone }, networkOf(event)),
		m.purchase_unreachable()
	);
	switch (opened.kind) {
		case 'found':
			redirect(303, link(`/s/${opened.token}`) + (visit === '' ? '' : `?visit=${visit}`));
			break;
		case 'unknown':
			return { status: 404, why: m.resume_unknown(), asksNumber: false };
		case 'crowded': {
			const why = phone === '' ? m.resume_crowded() : m.resume_unknown_number();
			return { status: phone === '' ? 429 : 404, why, asksNumber: true };
		}
		case 'limited': {
			const seconds = opened.retryAfterSeconds;
			event.setHeaders({ 'retry-after': String(seconds) });
			return { status: 429, why: m.resume_limited({ seconds }), asksNumber: phone !== '' };
		}
	}
}

/** `/resume?code=K7MQ-29XT` works like the form, for links and QR codes. */
export const load: PageServerLoad = async (event) => {
	const code = (event.url.searchParams.get('code') ?? '').slice(0, MAX_SHOWN);
	const visit = captiveSessionOf(event.url.searchParams.get('visit'));
	const form = { code, phone: '', visit, hint: phoneHint(event.locals.app.config.defaultRegion) };
	if (code === '' || event.request.method !== 'GET') return { ...form, why: null, asksNumber: false };
	const { why, asksNumber } = await open(event, form, visit);
	return { ...form, why, asksNumber };
};

/** Limits typed text that is shown again. */
const MAX_SHOWN = 32;

export const actions: Actions = {
	default: async (event) => {
		const sent = readTexts(await readForm(event.request), ['code', 'phone', 'visit']);
		const visit = captiveSessionOf(sent.visit);
		const { status, why, asksNumber } = await open(event, sent, visit);
		const [code, phone] = [sent.code.slice(0, MAX_SHOWN), sent.phone.slice(0, MAX_SHOWN)];
		return fail(status, { code, phone, visit, why, asksNumber });
	}
};
