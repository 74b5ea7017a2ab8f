import type { Base } from '../base.ts';
import type { Operators } from '../billing/operators/registry.ts';
import type { Branding } from '../branding/branding.ts';
import type { OfferList } from './offers.ts';

export interface RoutersContext extends Base {
	operators: Operators;
	branding: Branding;
	/** Offers by stored text. */
	offerLists: Map<string, OfferList>;
}
