import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { answerChangePassword } from '#lib/server/web/sign-in/change-password.ts';
import {
	confirmSecondFactor,
	startSecondFactor,
	stopSecondFactor
} from '#lib/server/web/sign-in/second-factor.ts';
import { endOtherSessions } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

const DONE: ReadonlyMap<string | null, () => string> = new Map([
	['password', m.owner_password_changed],
	['sessions', m.owner_signed_out_others],
	['factor', m.owner_factor_is_off]
]);

export const load: PageServerLoad = async (event) => {
	const { hasSecondFactor: hasFactor } = await requireOwner(event);
	return { hasFactor, done: DONE.get(event.url.searchParams.get('done'))?.() ?? null };
};

export const actions: Actions = {
	password: async (event) => {
		const refused = await answerChangePassword(event, await requireActiveOwner(event));
		if (refused) return refused;
		redirect(303, link('/owner/account?done=password'));
	},
	sessions: async (event) => {
		await endOtherSessions(event, await requireActiveOwner(event));
		redirect(303, link('/owner/account?done=sessions'));
	},
	factor: async (event) => startSecondFactor(event, await requireActiveOwner(event)),
	confirm: async (event) => confirmSecondFactor(event, await requireActiveOwner(event)),
	stop: async (event) => {
		const refused = await stopSecondFactor(event, await requireActiveOwner(event));
		if (refused) return refused;
		redirect(303, link('/owner/account?done=factor'));
	}
};
