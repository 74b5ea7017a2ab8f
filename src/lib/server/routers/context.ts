import type { Audit } from '../audit/audit.ts';
import type { Operators } from '../billing/operators/registry.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import type { Branding } from '../owner/branding/branding.ts';
import type { Clock } from '../platform/clock.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { OfferList } from './offers.ts';

export interface RoutersContext {
	database: Database;
	operators: Operators;
	branding: Branding;
	audit: Audit;
	clock: Clock;
	config: Config;
	secrets: Secrets;
	/** Payment methods by stored text. Cached, because all rows have the same few. */
	methodLists: Map<string, string[]>;
	/** By stored text. */
	offerLists: Map<string, OfferList>;
}
