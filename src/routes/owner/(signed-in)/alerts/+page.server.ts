import { alertPage, changeAlerts } from '#lib/server/web/owner/alerts.ts';
import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';

export const load = ownerPage(alertPage);

export const actions = { default: ownerForm(changeAlerts) };
