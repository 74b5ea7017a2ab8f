import type { Audit } from './audit.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/database.ts';
import type { Jobs } from './jobs.ts';
import type { Clock } from './platform/clock.ts';
import type { Log } from './platform/log.ts';
import type { Metrics } from './platform/metrics.ts';
import type { Secrets } from './platform/secrets.ts';

/**
 * Functions take a context first: what they use of the app. app.ts makes it. `Base` has what any service may use, and the
 * context of a room adds what its functions share. Its variants say where a function works:
 * - `SessionsContext`, `BillingContext`, `AccessContext`: it begins transactions of its own.
 * - `SessionServices`, `BillingServices`, `AccessServices`: in the transaction of its caller (`trx`), so without a database.
 * - `BillingJob`, `AccessJob`: in a job, whose transactions commit only while it has its lease (`Fenced` in jobs.ts).
 */
export interface Base {
	config: Config;
	clock: Clock;
	log: Log;
	metrics: Metrics;
	database: Database;
	secrets: Secrets;
	audit: Audit;
	jobs: Jobs;
}
