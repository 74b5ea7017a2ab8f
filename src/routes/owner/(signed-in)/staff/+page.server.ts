import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import {
	changeRole,
	inviteStaff,
	newInvitation,
	removePerson,
	staffPage
} from '#lib/server/web/owner/staff.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => staffPage(event, await requireOwner(event));

export const actions: Actions = {
	invite: async (event) => inviteStaff(event, await requireActiveOwner(event)),
	link: async (event) => newInvitation(event, await requireActiveOwner(event)),
	role: async (event) => changeRole(event, await requireActiveOwner(event)),
	remove: async (event) => removePerson(event, await requireActiveOwner(event))
};
