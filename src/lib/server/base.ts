import type { Audit } from './audit.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/database.ts';
import type { Jobs } from './jobs.ts';
import type { Clock } from './platform/clock.ts';
import type { Log } from './platform/log.ts';
import type { Metrics } from './platform/metrics.ts';
import type { Secrets } from './platform/secrets.ts';

/** Dependencies that any service may use. app.ts creates them. */
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
