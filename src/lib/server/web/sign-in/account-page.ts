import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { readFields } from '../form.ts';
import { confirmSecondFactor, startSecondFactor, stopSecondFactor } from './second-factor.ts';
import { tooSoon } from './sign-in-limits.ts';
import { changePassword, endOtherSessions, newPasswordProblem, type Visitor } from './sign-in.ts';

const DONE = {
	password: m.owner_password_changed,
	sessions: m.owner_signed_out_others,
	factor: m.owner_factor_is_off
};

export const accountData = ({ url }: RequestEvent, { hasSecondFactor }: Visitor) => ({
	hasFactor: hasSecondFactor,
	done: new Map(Object.entries(DONE)).get(url.searchParams.get('done') ?? '')?.() ?? null
});

export const accountActions = (visitorOf: (event: RequestEvent) => Promise<Visitor>) => ({
	password: async (event: RequestEvent) =>
		(await answerChangePassword(event, await visitorOf(event))) ?? leadTo(event, 'password'),
	sessions: async (event: RequestEvent) => {
		await endOtherSessions(event, await visitorOf(event));
		leadTo(event, 'sessions');
	},
	factor: async (event: RequestEvent) => startSecondFactor(event, await visitorOf(event)),
	confirm: async (event: RequestEvent) => confirmSecondFactor(event, await visitorOf(event)),
	stop: async (event: RequestEvent) =>
		(await stopSecondFactor(event, await visitorOf(event))) ?? leadTo(event, 'factor')
});

/** A reload then does not send the form again. */
function leadTo({ url }: RequestEvent, done: keyof typeof DONE): never {
	redirect(303, `${url.pathname}?done=${done}#main`);
}

async function answerChangePassword(event: RequestEvent, visitor: Visitor) {
	const { field } = await readFields(event.request);
	const problem = await newPasswordProblem(field('wanted'), visitor.email);
	if (problem !== null) return fail(400, { problem });
	const refused = await tooSoon(event, visitor.email, {});
	if (refused) return refused;
	const passwords = { current: field('current'), wanted: field('wanted') };
	const isChanged = await changePassword(event, visitor, passwords);
	return isChanged ? null : fail(400, { problem: m.owner_password_wrong() });
}
