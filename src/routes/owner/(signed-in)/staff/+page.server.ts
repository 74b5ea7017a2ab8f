import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import {
	changeRole,
	inviteStaff,
	newInvitation,
	removePerson,
	staffPage
} from '#lib/server/web/owner/staff.ts';

export const load = ownerPage(staffPage);

export const actions = {
	invite: ownerForm(inviteStaff),
	link: ownerForm(newInvitation),
	role: ownerForm(changeRole),
	remove: ownerForm(removePerson)
};
