import { casePage, helpForm } from '#lib/server/web/owner/customers.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/customers/{session}: what happened to a purchase, and what to do. */
export const load = ownerPage(casePage);

export const actions = {
	code: helpForm('code'),
	move: helpForm('move'),
	extend: helpForm('extend'),
	refund: helpForm('refund'),
	'by-hand': helpForm('by-hand'),
	end: helpForm('end')
};
