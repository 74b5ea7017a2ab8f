import { accountForm, accountPage, stopView } from '#lib/server/web/admin/accounts.ts';
import { adminForm, adminPage } from '#lib/server/web/admin/admin.ts';

export const load = adminPage(accountPage);

export const actions = {
	invite: accountForm('invite'),
	links: accountForm('links'),
	factor: accountForm('factor'),
	suspend: accountForm('suspend'),
	restore: accountForm('restore'),
	role: accountForm('role'),
	plan: accountForm('plan'),
	view: accountForm('view'),
	stop: adminForm(stopView)
};
