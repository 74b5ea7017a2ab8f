import { requireActiveOwner, requireOwner } from '#lib/server/web/owner/owner.ts';
import { accountActions, accountData } from '#lib/server/web/sign-in/account-page.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => accountData(event, await requireOwner(event));

export const actions: Actions = accountActions(requireActiveOwner);
