import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { readFields } from '#lib/server/web/form.ts';
import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import { answerChangePassword } from '#lib/server/web/sign-in/change-password.ts';
import { endSessions, listPasskeys, listSessions, removePasskey } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

const HERE = '/developer/account';

export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { account } = visitor;
	const { rateLimits } = event.locals.app.config;
	return {
		account: { role: account.role, plan: account.plan, perMinute: rateLimits[account.plan] },
		sessions: await listSessions(event, visitor),
		passkeys: await listPasskeys(event),
		done: DONE[event.url.searchParams.get('done') ?? ''] ?? null
	};
};

const DONE: Readonly<Record<string, string>> = {
	password: 'Your password is changed. You are signed out everywhere else.',
	session: 'You are signed out there.',
	sessions: 'You are signed out everywhere else.',
	'passkey-added': 'The passkey is added. Use it at your next sign-in.',
	'passkey-removed': 'The passkey is removed. Delete it on your device too.'
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
	passkey: async (event) => {
		const visitor = await requireVisitor(event);
		const removed = await removePasskey(event, visitor, await idOf(event));
		if (!removed) return fail(404, { gone: 'This passkey does not exist any more.' });
		done('passkey-removed');
	}
};
