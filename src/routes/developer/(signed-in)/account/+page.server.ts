import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { passwordProblem } from '#lib/domain/password-rule.ts';
import { readFields } from '#lib/server/web/form.ts';
import {
	changePassword,
	endSessions,
	listPasskeys,
	listSessions,
	removePasskey,
	requireVisitor,
	waitToTry
} from '#lib/server/web/sign-in.ts';
import { tooOften } from '../../waiting.ts';
import type { Actions, PageServerLoad } from './$types';

const HERE = '/developer/account';

/** /developer/account: who one is, password, passkeys, and where one is signed in. */
export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { account } = visitor;
	const { rateLimits } = event.locals.app.config;
	return {
		account: { role: account.role, plan: account.plan, perMinute: rateLimits[account.plan] },
		sessions: (await listSessions(event, visitor)).map((session) => ({
			...session,
			isThis: session.id === visitor.sessionId
		})),
		passkeys: await listPasskeys(event),
		done: DONE[event.url.searchParams.get('done') ?? ''] ?? null
	};
};

const DONE: Readonly<Record<string, string>> = {
	password: 'The password is changed. Every other sign-in has ended.',
	session: 'That sign-in has ended.',
	sessions: 'Every other sign-in has ended.',
	'passkey-added': 'The passkey is added. Use it at your next sign-in.',
	'passkey-removed': 'The passkey is removed. Delete it on your device too.'
};

/** Back to the top of the page by a request of its own, so that reloading it sends nothing again. */
function done(what: keyof typeof DONE): never {
	redirect(303, `${HERE}?done=${what}#main`);
}

async function idOf(event: RequestEvent): Promise<string> {
	const { field } = await readFields(event.request);
	return field('id');
}

export const actions: Actions = {
	password: async (event) => {
		const { email } = await requireVisitor(event);
		const { field } = await readFields(event.request);
		const problem = passwordProblem(field('wanted'));
		if (problem !== null) return fail(400, { problem });
		const wait = await waitToTry(event, email);
		if (wait !== null) return tooOften(event, wait, {});
		const changed = await changePassword(event, { current: field('current'), wanted: field('wanted') });
		if (!changed) return fail(400, { problem: 'The current password is wrong.' });
		done('password');
	},
	session: async (event) => {
		const visitor = await requireVisitor(event);
		const ended = await endSessions(event, visitor, { id: await idOf(event) });
		if (ended === 0) return fail(404, { gone: 'You have no such sign-in, or it has ended already.' });
		done('session');
	},
	sessions: async (event) => {
		await endSessions(event, await requireVisitor(event), 'others');
		done('sessions');
	},
	passkey: async (event) => {
		await requireVisitor(event);
		const removed = await removePasskey(event, await idOf(event));
		if (!removed) return fail(404, { gone: 'You have no such passkey, or it is removed already.' });
		done('passkey-removed');
	}
};
