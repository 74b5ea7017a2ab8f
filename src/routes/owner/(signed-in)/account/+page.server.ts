import { ownerPage, formVisitor } from '#lib/server/web/owner/owner.ts';
import { accountActions, accountData } from '#lib/server/web/sign-in/account-page.ts';

export const load = ownerPage(accountData);

export const actions = accountActions(formVisitor);
