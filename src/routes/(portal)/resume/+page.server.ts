import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/language/current.ts';
import * as m from '#lib/language/messages.js';
import { readFields } from '#lib/pay-form.ts';
import { networkOf } from '#lib/server/http/limits.ts';
import { readForm } from '../calm.ts';
import type { Actions, PageServerLoad } from './$types';

/** What is said when a code opens nothing. */
interface Refused {
	status: 400 | 404 | 429;
	why: string;
}

/** The visit of somebody whom a gateway sent (splash page): the purchase then lets that device online. '' for others. */
const visitOf = (given: string | null) => (/^[\w-]{24}$/.test(given ?? '') ? (given ?? '') : '');

/** Leads to the purchase of a code. @returns why not */
async function open(event: RequestEvent, code: string, visit: string): Promise<Refused> {
	if (code === '') return { status: 400, why: m.resume_empty() };
	const opened = await event.locals.app.purchases.resume(code, networkOf(event));
	if (opened.kind === 'found')
		redirect(303, link(`/s/${opened.token}`) + (visit === '' ? '' : `?visit=${visit}`));
	if (opened.kind === 'unknown') return { status: 404, why: m.resume_unknown() };
	const seconds = opened.retryAfterSeconds;
	event.setHeaders({ 'retry-after': String(seconds) });
	return { status: 429, why: m.resume_limited({ seconds }) };
}

/** `/resume?code=K7MQ-29XT` does what the form does, for links and QR codes. */
export const load: PageServerLoad = async (event) => {
	const code = (event.url.searchParams.get('code') ?? '').slice(0, MAX_SHOWN);
	const visit = visitOf(event.url.searchParams.get('visit'));
	if (code === '' || event.request.method !== 'GET') return { code, visit, why: null };
	return { code, visit, why: (await open(event, code, visit)).why };
};

/** Of what was typed, so much comes back in the field. */
const MAX_SHOWN = 32;

export const actions: Actions = {
	default: async (event) => {
		const { code, visit: given } = readFields(await readForm(event.request), ['code', 'visit']);
		const visit = visitOf(given);
		const { status, why } = await open(event, code, visit);
		return fail(status, { code: code.slice(0, MAX_SHOWN), visit, why });
	}
};
