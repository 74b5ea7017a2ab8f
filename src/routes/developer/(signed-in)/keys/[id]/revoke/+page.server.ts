import { error, redirect, type RequestEvent } from '@sveltejs/kit';
import { requireVisitor } from '#lib/server/web/sign-in.ts';
import { keysOf } from '../../keys.ts';
import type { Actions, PageServerLoad } from './$types';

const idOf = ({ params }: RequestEvent<{ id: string }>) =>
	/^\d{1,15}$/.test(params.id) ? Number(params.id) : 0;

const NO_KEY = 'You have no such active key.';

/** /developer/keys/{id}/revoke: asks for confirmation, then revokes the key. */
export const load: PageServerLoad = async (event) => {
	const keys = await keysOf(event, await requireVisitor(event));
	const key = keys.find(({ id, isOwn }) => id === idOf(event) && !isOwn);
	if (!key || (key.state !== 'live' && key.state !== 'other-mode')) error(404, NO_KEY);
	return { key };
};

export const actions: Actions = {
	default: async (event) => {
		const { account } = await requireVisitor(event);
		if (!(await event.locals.app.apiKeys.revokeOwn(account.id, idOf(event)))) error(404, NO_KEY);
		redirect(303, `/developer/keys?revoked=${idOf(event)}`);
	}
};
