import { alertPage, changeAlerts } from '#lib/server/web/owner/alerts.ts';
import { brandForm, saveBrand } from '#lib/server/web/owner/brand-form.ts';
import { formVisitor, ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import { mayDo } from '#lib/server/web/owner/roles.ts';
import {
	answerInvite,
	answerWithdraw,
	changeRole,
	inviteAgain,
	removePerson,
	staffPage
} from '#lib/server/web/owner/staff.ts';
import { accountActions, accountData } from '#lib/server/web/sign-in/account-page.ts';

const STAFF = ['invite', 'again', 'withdraw', 'role', 'remove'];

/** The part of the page that a form, `?done=` or `?show=` is about. */
function findOpenPart({ searchParams }: URL): string {
	if (searchParams.has('before')) return 'staff';
	const named = [...searchParams.keys()].find((name) => name.startsWith('/'))?.slice(1);
	const about = named ?? searchParams.get('done') ?? searchParams.get('show') ?? '';
	if (STAFF.includes(about)) return 'staff';
	return ['', 'alerts', 'brand'].includes(about) ? about : 'account';
}

/** /owner/settings?show=account|alerts|brand|staff */
export const load = ownerPage(async (event, visitor) => {
	const may = (action: string) => mayDo(visitor.role, 'settings', action);
	const [branding, alerts, staff] = await Promise.all([
		may('brand') ? brandForm(event, visitor) : null,
		may('alerts') ? alertPage(event, visitor) : null,
		may('invite') ? staffPage(event, visitor) : null
	]);
	return {
		...{ branding, alerts, staff },
		account: accountData(event, visitor),
		open: findOpenPart(event.url)
	};
});

export const actions = {
	...accountActions(formVisitor),
	brand: ownerForm(saveBrand),
	alerts: ownerForm(changeAlerts),
	invite: ownerForm(answerInvite),
	again: ownerForm(inviteAgain),
	withdraw: ownerForm(answerWithdraw),
	role: ownerForm(changeRole),
	remove: ownerForm(removePerson)
};
