import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import {
	changeRole,
	inviteAgain,
	answerInvite,
	removePerson,
	staffPage,
	answerWithdraw
} from '#lib/server/web/owner/staff.ts';

export const load = ownerPage(staffPage);

export const actions = {
	invite: ownerForm(answerInvite),
	again: ownerForm(inviteAgain),
	withdraw: ownerForm(answerWithdraw),
	role: ownerForm(changeRole),
	remove: ownerForm(removePerson)
};
