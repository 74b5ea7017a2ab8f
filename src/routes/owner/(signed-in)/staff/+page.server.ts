import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import {
	changeRole,
	inviteAgain,
	inviteStaff,
	removePerson,
	staffPage,
	withdrawInvitation
} from '#lib/server/web/owner/staff.ts';

export const load = ownerPage(staffPage);

export const actions = {
	invite: ownerForm(inviteStaff),
	again: ownerForm(inviteAgain),
	withdraw: ownerForm(withdrawInvitation),
	role: ownerForm(changeRole),
	remove: ownerForm(removePerson)
};
