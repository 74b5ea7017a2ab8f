import { adminForm, adminPage } from '#lib/server/web/admin/admin.ts';
import { importFile } from '#lib/server/web/admin/router-import.ts';

export const load = adminPage(({ locals }) => ({ currency: locals.app.config.currency }));

export const actions = { default: adminForm(importFile) };
