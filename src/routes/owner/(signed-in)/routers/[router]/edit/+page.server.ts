import { fail, redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { readFields } from '#lib/server/web/form.ts';
import { authorOf, ownRouter, requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { changedFields, entryOf, readEntry, routerErrors } from '#lib/server/web/owner/router/router-form.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const router = await ownRouter(event, await requireOwner(event));
	const { centre } = event.locals.app.config;
	return { id: router.id, name: router.name, entry: entryOf(router), centre };
};

export const actions: Actions = {
	default: async (event) => {
		const owner = await requireActiveOwner(event);
		const router = await ownRouter(event, owner);
		const { entry, was } = readEntry((await readFields(event.request)).field);
		try {
			await event.locals.app.routers.change(router.id, changedFields(entry, was), authorOf(owner));
		} catch (refused) {
			if (!(refused instanceof InputError)) throw refused;
			return fail(400, { entry, was, errors: routerErrors(refused, entry) });
		}
		redirect(303, link(`/owner/routers/${router.id}?done=edit`));
	}
};
