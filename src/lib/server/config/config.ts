import type { z } from 'zod';
import { durationSeconds, MAX_DURATION } from '#lib/domain/duration.ts';
import { MAX_AMOUNT_MINOR, toMajor } from '#lib/domain/money.ts';
import type { IsListed } from '../billing/operators/addresses.ts';
import { configureOperators, operatorTables } from '../billing/operators/configure.ts';
import { sandboxSecret } from '../platform/sandbox-secret.ts';
import { readSetting, settingsTable, type Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';

/** Nothing else in the application reads process.env. */

/** Required by the licence (ODbL) of OpenStreetMap, whose data PMTiles extracts contain. */
const OPENSTREETMAP = '© OpenStreetMap contributors';

type Settings = typeof SETTINGS;
type Values = { [K in keyof Settings]: z.output<Settings[K]['schema']> };

export type Config = ReturnType<typeof loadConfig>;

export type BasemapConfig = NonNullable<Config['basemap']>;

/** A setting is wrong. The message has one line per problem, with the fix. */
export class ConfigError extends Error {
	readonly problems: readonly string[];

	constructor(problems: string[]) {
		super(`The configuration is not usable:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
		this.name = 'ConfigError';
		this.problems = problems;
	}
}

/** @throws ConfigError that names every wrong variable */
export function loadConfig(env: Record<string, string | undefined>) {
	const problems: string[] = [];
	const values: Record<string, unknown> = {};
	for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
		const read = readSetting(env, name, setting);
		if ('value' in read) values[name] = read.value;
		else problems.push(read.problem);
	}
	if (problems.length > 0) throw new ConfigError(problems);
	const settings = values as Values;

	const mode = settings.AIRTILL_MODE;
	if (mode === 'live' && settings.AIRTILL_SECRET === undefined) {
		problems.push('AIRTILL_SECRET: is required in live mode.');
	}
	if (mode === 'live' && settings.WEBHOOK_ALLOW_INSECURE === '1') {
		problems.push('WEBHOOK_ALLOW_INSECURE: is refused in live mode.');
	}
	const highest = highestPrice(settings.CURRENCY);
	if (settings.MAX_PRICE > highest) {
		problems.push(
			`MAX_PRICE: nobody could pay ${MAX_DURATION} of it. Use at most ${highest} with CURRENCY=${settings.CURRENCY}.`
		);
	}
	if ((settings.AIRTILL_API_URL === undefined) !== (settings.AIRTILL_API_KEY === undefined)) {
		problems.push('AIRTILL_API_URL and AIRTILL_API_KEY: set both or neither.');
	}
	if (settings.SMTP_URL !== undefined && settings.MAIL_FROM === undefined) {
		problems.push('MAIL_FROM: is required with SMTP_URL.');
	}
	const { BASEMAP: place } = settings;
	if (place?.kind === 'tiles' && settings.BASEMAP_ATTRIBUTION === undefined) {
		problems.push(
			'BASEMAP_ATTRIBUTION: is required with a tile server. Its provider says what must be shown.'
		);
	}
	if (place?.kind === 'tiles' && settings.BASEMAP_ALLOW_PRIVATE === '0' && place.isPrivate) {
		problems.push('BASEMAP: use https and a public host, or set BASEMAP_ALLOW_PRIVATE=1.');
	}
	const callbackUrl = settings.CALLBACK_URL ?? settings.ORIGIN ?? `http://127.0.0.1:${settings.PORT}`;
	const configured = configureOperators(env, { mode, currency: settings.CURRENCY, callbackUrl });
	problems.push(...configured.problems);
	if (problems.length > 0) throw new ConfigError(problems);

	return {
		mode,
		port: settings.PORT,
		host: settings.HOST,
		origin: settings.ORIGIN ?? null,
		callbackUrl,
		/** Excludes the sandbox operator. */
		operators: configured.operators,
		/** By operator. One without a list may call from anywhere. */
		callbackAddresses: settings.CALLBACK_ADDRESSES ?? new Map<string, IsListed>(),
		operatorTimeoutMs: settings.OPERATOR_TIMEOUT_SECONDS * 1000,
		databaseUrl: settings.DATABASE_URL,
		databasePool: settings.DATABASE_POOL,
		dataDir: settings.DATA_DIR,
		secret: settings.AIRTILL_SECRET ?? ownSecret(settings.DATA_DIR),
		demo: settings.AIRTILL_DEMO === 'on' && mode === 'sandbox',
		logLevel: settings.AIRTILL_LOG_LEVEL,
		/** null: e-mails are printed (sandbox) or not sent (live). */
		smtp:
			settings.SMTP_URL !== undefined && settings.MAIL_FROM !== undefined
				? { url: settings.SMTP_URL, from: settings.MAIL_FROM }
				: null,
		currency: settings.CURRENCY,
		/** For routers without their own methods. */
		paymentMethods: settings.PAYMENT_METHODS,
		defaultRegion: settings.DEFAULT_REGION,
		centre: settings.MAP_CENTRE,
		/** null: the map shows coasts and borders. */
		basemap: place
			? {
					...place,
					attribution: settings.BASEMAP_ATTRIBUTION ?? OPENSTREETMAP,
					maxZoom: settings.BASEMAP_MAX_ZOOM,
					cacheBytes: settings.BASEMAP_CACHE_MB * 1024 * 1024,
					allowPrivate: settings.BASEMAP_ALLOW_PRIVATE === '1'
				}
			: null,
		reportTimezone: settings.REPORT_TIMEZONE,
		/** null: the API of this process. */
		remoteApi:
			settings.AIRTILL_API_URL !== undefined && settings.AIRTILL_API_KEY !== undefined
				? { url: settings.AIRTILL_API_URL, key: settings.AIRTILL_API_KEY }
				: null,
		/** Requests per minute and key. */
		rateLimits: {
			default: settings.RATE_LIMIT_DEFAULT,
			enterprise: settings.RATE_LIMIT_ENTERPRISE,
			portal: settings.RATE_LIMIT_PORTAL
		},
		maxFailedKeys: settings.RATE_LIMIT_FAILED_KEYS,
		/** Attempts per minute to open a purchase by its code. */
		maxCodes: { network: settings.RATE_LIMIT_CODES, total: settings.RATE_LIMIT_CODES_TOTAL },
		paymentTimeoutMs: settings.PAYMENT_TIMEOUT_SECONDS * 1000,
		sessionPaymentMs: settings.SESSION_PAYMENT_SECONDS * 1000,
		latePaymentMs: settings.LATE_PAYMENT_SECONDS * 1000,
		reconcileMs: settings.RECONCILE_HOURS * 60 * 60 * 1000,
		maxPaymentAttempts: settings.PAYMENT_ATTEMPTS,
		maxPayerPrompts: settings.PAYER_PROMPTS,
		/** In major units. */
		maxPrice: settings.MAX_PRICE,
		commissionBasisPoints: settings.COMMISSION_BASIS_POINTS,
		webhookAllowInsecure: settings.WEBHOOK_ALLOW_INSECURE === '1'
	};
}

/** Returns the highest whole price per hour at which the longest order still fits the wire format. */
function highestPrice(currency: string): number {
	const hours = durationSeconds(MAX_DURATION) / 3600;
	return Math.floor(toMajor(Math.floor(MAX_AMOUNT_MINOR / hours), currency));
}

function ownSecret(dataDir: string): string {
	const read = sandboxSecret(dataDir);
	if ('secret' in read) return read.secret;
	throw new ConfigError([read.problem]);
}

export const configTable = (): string => [settingsTable(SETTINGS), operatorTables()].join('\n\n').trim();
