import { accessJobs, letInBuyer, movePurchase, openAccess, forgetDevice } from './access/access.ts';
import { type AccessContext, createProvisioning } from './access/provisioning.ts';
import type { Base } from './base.ts';
import { type WriteAlert, alertJobs, type Alerts } from './alerts.ts';
import { createAudit } from './audit.ts';
import { DEMO_EMAILS } from './accounts/accounts.ts';
import { createApiKeys } from './developer/api-keys.ts';
import { type ApiAccess, KnownRouters, createQuota } from './portal/api-client.ts';
import { createBranding } from './branding.ts';
import { createBasemap } from './basemap.ts';
import { systemClock, type Clock } from './platform/clock.ts';
import { setHomeRegion } from '#lib/domain/phone.ts';
import type { Config } from './config/config.ts';
import { openDatabase } from './db/database.ts';
import { createGatewayTransport } from './gateways/vendor-api.ts';
import { type CaptiveSessions, createSeenDevices } from './gateways/captive-sessions.ts';
import { createIdempotency } from './idempotency.ts';
import { createEvents } from './events.ts';
import { createCursors } from './platform/cursor.ts';
import { createJobs, fenceHandlers } from './jobs.ts';
import { createLog, type Log } from './platform/log.ts';
import { closeToOthers } from './platform/private-files.ts';
import { createHttpClient } from './platform/http-client.ts';
import { createOperators, type Operators } from './billing/operators/registry.ts';
import { createSandboxOperator } from './billing/operators/sandbox.ts';
import { createSharedTokens } from './billing/operators/client.ts';
import { runReconcileJob, submitPayment } from './billing/at-operator.ts';
import {
	type BillingContext,
	RECONCILE_JOB,
	REFUND_JOB,
	SUBMIT_JOB,
	createChanges
} from './billing/payments.ts';
import { PAYOUT_JOB, sendPayout } from './billing/payouts.ts';
import { refundPayment } from './billing/refunds.ts';
import { readInExtraTime } from './billing/session-orders.ts';
import { SESSION_END_JOB, runSessionJob } from './billing/sessions.ts';
import { createMailer } from './platform/mail.ts';
import { notificationJobs, createNotifications } from './notifications.ts';
import { personalDataJobs } from './personal-data.ts';
import { createMetrics, NO_METRICS } from './platform/metrics.ts';
import { createMonitoring } from './monitoring.ts';
import { createMapRouters } from './portal/map-routers.ts';
import { createPurchases } from './portal/purchases.ts';
import { type RateLimits, createRateLimits } from './rate-limits.ts';
import { startRequestLog, stopRequestLog } from './developer/request-log.ts';
import { findOpeningTimes, isGatewayVerified, createRouters } from './routers/routers.ts';
import { createSecrets } from './platform/secrets.ts';
import type { GatewaySetup } from './gateway-setup.ts';
import { createGatewayHealth } from './gateways/health.ts';
import { finishMails, createSignIn } from './authentication/sign-in.ts';
import type { Help } from './owner/help.ts';
import { openPortal } from './open-portal.ts';
import { ownerViewJobs } from './owner/views.ts';
import { DELIVERY_JOB, insertDeliveries, sendDelivery } from './developer/webhook-delivery.ts';
import { UPKEEP_JOB, keepWebhooks, sendNotice } from './developer/webhook-upkeep.ts';
import { createWebhookTransport } from './developer/webhook-transport.ts';
import type { Webhooks } from './developer/webhooks.ts';
import { compareReading } from './access/compare.ts';
import { probeRadiusGateway } from './access/radius-connections.ts';
import { findPassOutages } from './access/outages.ts';
import { findDeviceState } from './access/device-slots.ts';

/** The composition root: makes each service once, gives it what it needs, and starts and stops the process. */

export type App = Awaited<ReturnType<typeof createApp>>;

interface Options {
	clock?: Clock;
	log?: Log;
}

/** Share of the limit of a remote API for lists and the map. */
const PART_FOR_SEARCHES = 1 / 2;

/** Time for running requests to operators and gateways, so that a stop takes less than ten seconds. */
const LAST_CALLS_MS = 7_000;

export async function createApp(config: Config, options: Options = {}) {
	setHomeRegion(config.defaultRegion);
	const base = await openBase(config, options);
	const { sandbox, http, operators } = await openOperators(base);
	const sales = createSales(base, operators);
	const network = createNetwork(base, sales);
	const developer = createDeveloper(base);
	const notifications = createNotifications({ ...base, ...developer, http });
	const alerts: Alerts = { ...base, ...sales, notifications };
	const portal = createPortal(base, { ...sales, ...developer });
	const { jobs, database } = base;
	let isDraining = false;
	return {
		...base,
		...sales,
		...network,
		...developer,
		...portal,
		notifications,
		alerts,
		monitoring: createMonitoring({
			...base,
			...sales,
			kinds: { refund: REFUND_JOB, delivery: DELIVERY_JOB }
		}),
		help: { ...base, ...sales, purchases: portal.purchases, access: network.access } satisfies Help,
		/** Only for the process that serves pages. */
		async openPortal() {
			const key = await openPortal({ ...base, ...sales, ...developer });
			if (key !== null) portal.api.key = key;
		},
		/** The command line, which has no sentences of pages, does not start the jobs. */
		startJobs(writeAlert: WriteAlert) {
			const { access, gatewayHealth } = network;
			jobs.start({
				...billingJobs(sales),
				...accessJobs(access),
				...gatewayHealth.jobs,
				...personalDataJobs(base),
				...ownerViewJobs(base),
				...notificationJobs(notifications),
				...alertJobs(alerts, writeAlert),
				...developer.jobHandlers
			});
		},
		/** Tells proxies through /readyz that this process is about to stop. */
		drain() {
			isDraining = true;
		},
		get isDraining() {
			return isDraining;
		},
		/** Answers held requests, so that the server can close its connections, and starts no further jobs. */
		beginStop() {
			sales.changes.stop();
			void jobs.stop();
			// An aborted request counts as uncertain, and the next process asks for its result.
			setTimeout(() => void Promise.all([http.stop(), network.transport.stop()]), LAST_CALLS_MS).unref();
		},
		/** Finishes running work, then closes the database. */
		async stop() {
			sales.changes.stop();
			sandbox?.stop();
			network.gatewayHealth.stop();
			await jobs.stop();
			await finishMails(developer.signIn);
			await stopRequestLog(developer.requestLog);
			await Promise.all([http.stop(), network.transport.stop()]);
			await database.close();
		}
	};
}

async function openBase(config: Config, options: Options): Promise<Base> {
	const clock = options.clock ?? systemClock;
	const log = options.log ?? createLog(config.logLevel);
	closeToOthers(config.dataDir, 'folder');
	const metrics = config.metricsToken === null ? NO_METRICS : await createMetrics();
	const database = await openDatabase(config.databaseUrl, {
		poolSize: config.databasePool,
		areStatementsNamed: config.areStatementsNamed,
		onError: (code) => metrics.count('airtill_database_errors_total', { code })
	});
	const secrets = createSecrets(config.secret, config.secretFallback);
	const audit = createAudit(clock);
	const jobs = createJobs(database, clock, log, metrics);
	return { config, clock, log, metrics, database, secrets, audit, jobs };
}

async function openOperators(base: Base) {
	const { config, clock, log } = base;
	const sandbox = config.mode === 'sandbox' ? createSandboxOperator(base) : null;
	const http = createHttpClient({ timeoutMs: config.operatorTimeoutMs });
	const { mode, currency, callbackUrl } = config;
	const tokens = createSharedTokens(base);
	const context = { mode, currency, callbackUrl, clock, log, http, tokens };
	return { sandbox, http, operators: createOperators(sandbox, config.operators, context, base) };
}

function createSales(base: Base, operators: Operators) {
	const { clock, database, secrets } = base;
	const branding = createBranding(database, clock);
	const routers = createRouters({ ...base, operators, branding });
	const events = createEvents(base, (trx, event) => insertDeliveries(base, trx, event));
	const gateways = { database, clock, secrets };
	const provisioning = createProvisioning({ ...base, gateways, routers });
	const billing: BillingContext = {
		...{ ...base, events, routers, operators, gateways, provisioning },
		changes: createChanges(base.database),
		promptQueues: new Map()
	};
	const offers = { ...base, operators, routers, gateways };
	return { ...billing, gateways, branding, offers };
}

const billingJobs = (context: BillingContext) =>
	fenceHandlers(context, {
		[SESSION_END_JOB]: runSessionJob,
		[SUBMIT_JOB]: submitPayment,
		[RECONCILE_JOB]: runReconcileJob,
		[REFUND_JOB]: refundPayment,
		[PAYOUT_JOB]: sendPayout
	});

function createNetwork(base: Base, sales: ReturnType<typeof createSales>) {
	const { gateways } = sales;
	const transport = createGatewayTransport(base);
	const captiveSessions: CaptiveSessions = {
		...base,
		gateways,
		seenDevices: createSeenDevices(base, transport),
		access: {
			purchaseOpened: (tokenHash, isOnline) => letInBuyer(access, tokenHash, isOnline),
			deviceReturned: (device) => forgetDevice(access, device),
			stateOf: (tokenHash, device) => findDeviceState(access, tokenHash, device),
			move: (tokenHash) => movePurchase(access, tokenHash),
			isVerified: (gateway) => isGatewayVerified(sales.routers, gateway)
		}
	};
	const access: AccessContext = openAccess({ ...base, ...sales, captiveSessions, transport });
	return {
		transport,
		captiveSessions,
		access,
		gatewaySetup: {
			...base,
			...sales,
			access,
			transport,
			testing: new Set()
		} satisfies GatewaySetup,
		gatewayHealth: createGatewayHealth({
			...base,
			gateways,
			transport,
			probeRadius: (gateway) => probeRadiusGateway(access, gateway),
			compareReading: (gateway, reading, at) => compareReading(access, gateway, reading, at)
		})
	};
}

function createDeveloper(base: Base) {
	const { config, clock, log, database, secrets } = base;
	const mailer = createMailer(config);
	const rules = {
		allowInsecure: config.webhookAllowInsecure,
		allowThisMachine: config.demo,
		isTest: config.mode === 'sandbox',
		ownHosts: [`localhost:${config.port}`, ...(config.origin === null ? [] : [new URL(config.origin).host])]
	};
	const delivery = { ...base, transport: createWebhookTransport(rules) };
	const notices = { ...base, mailer };
	return {
		mailer,
		apiKeys: createApiKeys(base),
		signIn: createSignIn({ ...base, mailer, demoEmails: DEMO_EMAILS }),
		webhooks: { ...base, rules } satisfies Webhooks,
		jobHandlers: {
			...fenceHandlers(delivery, { [DELIVERY_JOB]: sendDelivery }),
			// Without the fence: it changes rows by their age, and leases each notice.
			[UPKEEP_JOB]: () => keepWebhooks({ ...base, notify: (endpoint) => sendNotice(notices, endpoint) })
		},
		rateLimits: createRateLimits(database, clock, log),
		requestLog: startRequestLog(base),
		idempotency: createIdempotency(database, clock, secrets),
		cursors: createCursors(secrets)
	};
}

function createPortal(base: Base, { rateLimits, ...billing }: BillingContext & { rateLimits: RateLimits }) {
	const { config, clock, log } = base;
	const { defaultRegion: region, remoteApi } = config;
	const searchQuota = createQuota(PART_FOR_SEARCHES, config, clock);
	/** The portal's API client. Its key exists once `openPortal` has run. */
	const api: ApiAccess = remoteApi
		? { ...remoteApi, knownRouters: new KnownRouters(clock), searchQuota }
		: { url: null, key: '', searchQuota };
	return {
		api,
		purchases: createPurchases({
			...base,
			...{ rateLimits, region },
			// The sessions of a remote API are not in this database.
			readInExtraTime: remoteApi ? () => Promise.resolve(null) : (id) => readInExtraTime(billing, id),
			findOutages: remoteApi ? () => Promise.resolve(null) : (id) => findPassOutages(billing.database.db, id)
		}),
		mapRouters: createMapRouters(config, clock),
		basemap: createBasemap(config, log),
		/** null with a remote API, which does not tell when its closed routers open. */
		openingTimes: remoteApi ? null : (ids: readonly number[]) => findOpeningTimes(billing.routers, ids)
	};
}
