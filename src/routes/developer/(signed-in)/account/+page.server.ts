import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { readFields } from '#lib/server/web/form.ts';
import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import { answerChangePassword } from '#lib/server/web/sign-in/change-password.ts';
import {
	confirmSecondFactor,
	startSecondFactor,
	stopSecondFactor
} from '#lib/server/web/sign-in/second-factor.ts';
import { endSessions, listSessions, needsSecondFactor } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

const HERE = '/developer/account';

export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { account } = visitor;
	const { rateLimits } = event.locals.app.config;
	return {
		account: { role: account.role, plan: account.plan, perMinute: rateLimits[account.plan] },
		sessions: await listSessions(event, visitor),
		hasFactor: visitor.hasSecondFactor,
		needsFactor: needsSecondFactor(event, visitor),
		done: DONE[event.url.searchParams.get('done') ?? ''] ?? null
	};
};

const DONE: Readonly<Record<string, string>> = {
	password: 'Your password is changed. You are signed out everywhere else.',
	session: 'You are signed out there.',
	sessions: 'You are signed out everywhere else.',
	factor: 'The second factor is off.'
};

/** Redirects to the page, so that a reload does not send the form again. */
function done(what: keyof typeof DONE): never {
	redirect(303, `${HERE}?done=${what}#main`);
}

async function idOf(event: RequestEvent): Promise<string> {
	const { field } = await readFields(event.request);
	return field('id');
}

export const actions: Actions = {
	password: async (event) => {
		const refused = await answerChangePassword(event, await requireVisitor(event));
		if (refused) return refused;
		done('password');
	},
	session: async (event) => {
		const visitor = await requireVisitor(event);
		const ended = await endSessions(event, visitor, { id: await idOf(event) });
		if (ended === 0) return fail(404, { gone: 'You are not signed in there any more.' });
		done('session');
	},
	sessions: async (event) => {
		await endSessions(event, await requireVisitor(event), 'others');
		done('sessions');
	},
	factor: async (event) => startSecondFactor(event, await requireVisitor(event)),
	confirm: async (event) => confirmSecondFactor(event, await requireVisitor(event)),
	stop: async (event) => {
		const refused = await stopSecondFactor(event, await requireVisitor(event));
		if (refused) return refused;
		done('factor');
	}
};
