import { fail, redirect } from '@sveltejs/kit';
import { hasNetworkPassword } from '#lib/domain/access-kind.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { InputError } from '#lib/server/access/access.ts';
import { readFields } from '#lib/server/web/form.ts';
import { ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { MAX_WIFI_PASSWORD, MIN_WIFI_PASSWORD, wifiPasswordProblem } from '#lib/domain/wifi-password.ts';
import type { Actions, PageServerLoad } from './$types';

/** Returns why a text cannot be the password, or null. access/kinds.ts checks the same rules again. */
function problemOf(text: string): string | null {
	switch (wifiPasswordProblem(text)) {
		case null:
			return null;
		case 'hex':
			return m.owner_wifi_hex();
		case 'characters':
			return m.owner_wifi_characters();
		default:
			return m.owner_wifi_length({ min: String(MIN_WIFI_PASSWORD), max: String(MAX_WIFI_PASSWORD) });
	}
}

const pageOf = (id: number) => link(`/owner/routers/${id}`);

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	if (!hasNetworkPassword(router.access_kind, router.security)) redirect(303, pageOf(router.id));
	return { id: router.id, name: router.name, ssid: apart(router.ssid), max: MAX_WIFI_PASSWORD };
};

export const actions: Actions = {
	default: async (event) => {
		const router = await ownRouter(event, await requireActiveOwner(event));
		if (!hasNetworkPassword(router.access_kind, router.security)) redirect(303, pageOf(router.id));
		const { field } = await readFields(event.request);
		const networkPassword = field('password');
		const problem = problemOf(networkPassword);
		if (problem !== null) return fail(400, { problem, typed: networkPassword });
		try {
			await event.locals.app.accessKinds.set(router.id, { networkPassword });
		} catch (refused) {
			// The access kind changed meanwhile: the router's page shows it.
			if (!(refused instanceof InputError)) throw refused;
			redirect(303, pageOf(router.id));
		}
		redirect(303, `${pageOf(router.id)}?done=wifi`);
	}
};
