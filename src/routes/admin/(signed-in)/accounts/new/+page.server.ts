import { createAccount } from '#lib/server/web/admin/accounts.ts';
import { adminForm, adminPage } from '#lib/server/web/admin/admin.ts';

export const load = adminPage(() => ({}));

export const actions = { default: adminForm(createAccount) };
