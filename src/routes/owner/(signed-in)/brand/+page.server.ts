import { brandForm, saveBrand } from '#lib/server/web/owner/brand-form.ts';
import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';

export const load = ownerPage(async (event, owner) => ({ brandForm: await brandForm(event, owner) }));

export const actions = { default: ownerForm(saveBrand) };
