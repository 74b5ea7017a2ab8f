import { redirect } from '@sveltejs/kit';
import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import { answerChangePassword } from '#lib/server/web/sign-in/change-password.ts';
import {
	confirmSecondFactor,
	startSecondFactor,
	stopSecondFactor
} from '#lib/server/web/sign-in/second-factor.ts';
import { endOtherSessions, needsSecondFactor } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

const HERE = '/developer/account';

export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { account } = visitor;
	const { rateLimits } = event.locals.app.config;
	return {
		account: { role: account.role, plan: account.plan, perMinute: rateLimits[account.plan] },
		hasFactor: visitor.hasSecondFactor,
		needsFactor: needsSecondFactor(event, visitor),
		done: DONE[event.url.searchParams.get('done') ?? ''] ?? null
	};
};

const DONE: Readonly<Record<string, string>> = {
	password: 'Your password is changed. You are signed out everywhere else.',
	sessions: 'You are signed out everywhere else.',
	factor: 'The second factor is off.'
};

/** Redirects to the page, so that a reload does not send the form again. */
function done(what: keyof typeof DONE): never {
	redirect(303, `${HERE}?done=${what}#main`);
}

export const actions: Actions = {
	password: async (event) => {
		const refused = await answerChangePassword(event, await requireVisitor(event));
		if (refused) return refused;
		done('password');
	},
	sessions: async (event) => {
		await endOtherSessions(event, await requireVisitor(event));
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
