import { fail, redirect } from '@sveltejs/kit';
import { hasNetworkPassword } from '#lib/domain/access-kind.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { readFields } from '#lib/server/web/form.ts';
import { wifiPasswordText } from '#lib/server/web/owner/access-form.ts';
import { authorOf, ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { MAX_WIFI_PASSWORD } from '#lib/domain/wifi/wifi-password.ts';
import type { Actions, PageServerLoad } from './$types';

const pageOf = (id: number) => link(`/owner/routers/${id}`);

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	if (!hasNetworkPassword(router.access_kind, router.security)) redirect(303, pageOf(router.id));
	return { id: router.id, name: router.name, ssid: apart(router.ssid), max: MAX_WIFI_PASSWORD };
};

export const actions: Actions = {
	default: async (event) => {
		const owner = await requireActiveOwner(event);
		const router = await ownRouter(event, owner);
		if (!hasNetworkPassword(router.access_kind, router.security)) redirect(303, pageOf(router.id));
		const { field } = await readFields(event.request);
		const networkPassword = field('password');
		const problem = wifiPasswordText(networkPassword);
		if (problem !== null) return fail(400, { problem, typed: networkPassword });
		try {
			await event.locals.app.accessKinds.set(router.id, { networkPassword }, authorOf(owner));
		} catch (refused) {
			// The access kind changed meanwhile: the router's page shows it.
			if (!(refused instanceof InputError)) throw refused;
			redirect(303, pageOf(router.id));
		}
		redirect(303, `${pageOf(router.id)}?done=wifi`);
	}
};
