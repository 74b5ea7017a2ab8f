import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import {
	countCash,
	makeBatch,
	markOne,
	sellOne,
	undoSale,
	vouchersPage
} from '#lib/server/web/owner/vouchers.ts';

/** Vouchers: sell one, count the cash, and for managers print them and see the sellers. */
export const load = ownerPage(vouchersPage);

export const actions = {
	sell: ownerForm(sellOne),
	mark: ownerForm(markOne),
	undo: ownerForm(undoSale),
	close: ownerForm(countCash),
	make: ownerForm(makeBatch)
};
