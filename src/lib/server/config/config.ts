import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { MAX_DURATION, durationSeconds } from '#lib/domain/time.ts';
import { MAX_AMOUNT_MINOR, toMajor, toMinor } from '#lib/domain/money.ts';
import { type IsListed, SETTINGS } from './settings.ts';
import { configureOperators, operatorTables } from '../billing/operators/registry.ts';
import { MIN_SECRET_LENGTH, readSettings, formatSettingsTable } from './setting.ts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import process from 'node:process';
import { createPrivateFolder } from '../platform/private-files.ts';
import { Refused } from '#lib/server/platform/errors.ts';

/** Nothing else in lib/ reads process.env. */

/** Required by the licence (ODbL) of OpenStreetMap, whose data PMTiles extracts contain. */
const OPENSTREETMAP = '© OpenStreetMap contributors';

type Env = Record<string, string | undefined>;
type Settings = { [K in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[K]['schema']> };

export type Config = ReturnType<typeof loadConfig>;
export type DatabaseConfig = Pick<Config, 'databaseUrl' | 'dataDir'>;

/** @throws Refused that names every wrong variable */
export function loadConfig(env: Env) {
	const { values, problems: wrong } = readSettings(env, SETTINGS);
	check(wrong);
	const settings = values as Settings;
	const { AIRTILL_MODE: mode, CURRENCY: currency } = settings;
	const callbackUrl = settings.CALLBACK_URL ?? settings.ORIGIN ?? `http://127.0.0.1:${settings.PORT}`;
	const { operators, problems } = configureOperators(env, { mode, currency, callbackUrl });
	check([...findConflicts(settings), ...problems]);
	return {
		mode,
		currency,
		callbackUrl,
		/** Excludes the sandbox operator. */
		operators,
		...serverConfig(settings),
		...salesConfig(settings),
		basemap: basemapConfig(settings)
	};
}

const { DATABASE_URL, DATA_DIR } = SETTINGS;
type DatabaseSettings = Pick<Settings, 'DATABASE_URL' | 'DATA_DIR'>;
const DATABASE_FILE = 'airtill.db';

const computeDatabaseUrl = ({ DATABASE_URL: url, DATA_DIR: folder }: DatabaseSettings): string =>
	url ?? `file:${folder.replace(/\/+$/, '')}/${DATABASE_FILE}`;

/**
 * Reads where the database is. Other settings may be wrong: a backup must not wait for their correction.
 * @throws Refused also while the database of this installation is where earlier versions kept it, whatever
 * DATA_DIR was: a new, empty one would have no purchases, and ask no operator about the payments that are open
 */
export function loadDatabaseConfig(env: Env): DatabaseConfig {
	const { values, problems } = readSettings(env, { DATABASE_URL, DATA_DIR });
	check(problems);
	const settings = values as DatabaseSettings;
	const databaseUrl = computeDatabaseUrl(settings);
	const [here, former] = [databaseUrl.slice('file:'.length), `${DATA_DIR.default}/${DATABASE_FILE}`];
	if (settings.DATABASE_URL === undefined && !existsSync(here) && existsSync(former)) {
		check([
			`DATABASE_URL: there is no database in DATA_DIR yet, but one at ${former}. To keep using it, set ` +
				`DATABASE_URL=file:${former}. For a new one, set DATABASE_URL=${databaseUrl}.`
		]);
	}
	return { databaseUrl, dataDir: settings.DATA_DIR };
}

function check(problems: readonly string[]): void {
	if (problems.length > 0) throw refuseSettings(problems);
}

/** @param problems each begins with the name of the setting, and ends with the fix */
export function refuseSettings(problems: readonly string[]) {
	const message = ['The configuration is not usable:', ...problems.map((problem) => `- ${problem}`)].join(
		'\n'
	);
	const fields = problems.map((reason) => ({ field: reason.split(':', 1).join(), reason }));
	return new Refused<'settings'>('settings', message, { fields });
}

const TEST_HOSTS = ['localhost', '127.0.0.1', '[::1]', 'api.sandbox.africastalking.com'];
const isTestHost = (url: string) => TEST_HOSTS.includes(new URL(url).hostname);

function findConflicts(settings: Settings): string[] {
	const { CURRENCY: currency } = settings;
	const isLive = settings.AIRTILL_MODE === 'live';
	const highest = computeHighestPrice(currency);
	const rules: [isBroken: boolean, problem: string][] = [
		[isLive && settings.AIRTILL_SECRET === undefined, 'AIRTILL_SECRET: is required in live mode.'],
		[
			!isLive && settings.SMS_BUYER_CODES && !isTestHost(settings.SMS_URL ?? settings.AFRICASTALKING_URL),
			'SMS_BUYER_CODES: nobody pays in a sandbox, so strangers could send SMS to any number at your cost. ' +
				'Use live mode, or a simulator on this machine.'
		],
		[isLive && settings.WEBHOOK_ALLOW_INSECURE, 'WEBHOOK_ALLOW_INSECURE: is refused in live mode.'],
		[
			settings.MAX_PRICE > highest,
			`MAX_PRICE: nobody could pay ${MAX_DURATION} of it. Use at most ${highest} with CURRENCY=${currency}.`
		],
		[
			(settings.AIRTILL_API_URL === undefined) !== (settings.AIRTILL_API_KEY === undefined),
			'AIRTILL_API_URL and AIRTILL_API_KEY: set both or neither.'
		],
		[
			settings.SMTP_URL !== undefined && settings.MAIL_FROM === undefined,
			'MAIL_FROM: is required with SMTP_URL.'
		],
		[
			(settings.AFRICASTALKING_USERNAME === undefined) !== (settings.AFRICASTALKING_API_KEY === undefined),
			'AFRICASTALKING_USERNAME and AFRICASTALKING_API_KEY: set both or neither.'
		],
		[
			settings.AFRICASTALKING_USERNAME !== undefined && settings.SMS_URL !== undefined,
			'SMS_URL: is refused with AFRICASTALKING_USERNAME. Choose one provider.'
		],
		[
			settings.SMS_PRICE > 0 && toMinor(settings.SMS_PRICE, currency) === null,
			`SMS_PRICE: ${currency} does not have that many decimals.`
		]
	];
	return rules.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []));
}

const serverConfig = (settings: Settings) => ({
	port: settings.PORT,
	host: settings.HOST,
	origin: settings.ORIGIN ?? null,
	databaseUrl: computeDatabaseUrl(settings),
	databasePool: settings.DATABASE_POOL,
	areStatementsNamed: settings.DATABASE_NAMED_STATEMENTS,
	dataDir: settings.DATA_DIR,
	secret: settings.AIRTILL_SECRET ?? readOrCreateSandboxSecret(settings.DATA_DIR),
	/** null: only `secret` opens stored values. */
	secretFallback: settings.AIRTILL_SECRET_FALLBACK ?? null,
	demo: settings.AIRTILL_DEMO !== 'off' && settings.AIRTILL_MODE === 'sandbox',
	demoSales: settings.AIRTILL_DEMO === 'on',
	logLevel: settings.AIRTILL_LOG_LEVEL,
	metricsToken: settings.METRICS_TOKEN ?? null,
	/** null: emails are printed (sandbox) or not sent (live). */
	smtp:
		settings.SMTP_URL !== undefined && settings.MAIL_FROM !== undefined
			? { url: settings.SMTP_URL, from: settings.MAIL_FROM }
			: null,
	sms: smsConfig(settings),
	/** null: the API of this process. */
	remoteApi:
		settings.AIRTILL_API_URL !== undefined && settings.AIRTILL_API_KEY !== undefined
			? { url: settings.AIRTILL_API_URL, key: settings.AIRTILL_API_KEY }
			: null,
	/** Requests per minute and key. */
	rateLimits: {
		default: settings.RATE_LIMIT_DEFAULT,
		enterprise: settings.RATE_LIMIT_ENTERPRISE,
		/** The visitors of the pages are limited instead. */
		portal: Infinity
	},
	webhookAllowInsecure: settings.WEBHOOK_ALLOW_INSECURE,
	/** Retention of personal data. */
	keepDays: { numbers: settings.KEEP_NUMBERS_DAYS, devices: settings.KEEP_DEVICES_DAYS }
});

function smsConfig(settings: Settings) {
	const { AFRICASTALKING_USERNAME: username, AFRICASTALKING_API_KEY: apiKey, SMS_URL: url } = settings;
	const terms = {
		priceMinor: toMinor(settings.SMS_PRICE, settings.CURRENCY) ?? 0,
		buyerCodes: settings.SMS_BUYER_CODES
	};
	if (username !== undefined && apiKey !== undefined) {
		const at = { url: settings.AFRICASTALKING_URL, sender: settings.AFRICASTALKING_SENDER ?? null };
		return { ...terms, provider: { kind: 'africastalking', username, apiKey, ...at } as const };
	}
	if (url === undefined) return null;
	const request = { url, headers: settings.SMS_HEADERS, body: settings.SMS_BODY };
	return { ...terms, provider: { kind: 'http', ...request } as const };
}

const salesConfig = (settings: Settings) => ({
	/** By operator. One without a list may call from anywhere. */
	callbackAddresses: settings.CALLBACK_ADDRESSES ?? new Map<string, IsListed>(),
	operatorTimeoutMs: settings.OPERATOR_TIMEOUT_SECONDS * 1000,
	/** For routers without their own methods. */
	paymentMethods: settings.PAYMENT_METHODS,
	defaultRegion: settings.DEFAULT_REGION,
	centre: settings.MAP_CENTRE,
	/** For buyers: phone numbers and email addresses. */
	contacts: settings.CONTACT ?? [],
	/** null: the standard texts. */
	textsDir: settings.TEXTS_DIR ?? null,
	reportTimezone: settings.REPORT_TIMEZONE,
	paymentTimeoutMs: settings.PAYMENT_TIMEOUT_SECONDS * 1000,
	sessionPaymentMs: settings.SESSION_PAYMENT_SECONDS * 1000,
	latePaymentMs: settings.LATE_PAYMENT_SECONDS * 1000,
	reconcileMs: settings.RECONCILE_HOURS * 60 * 60 * 1000,
	maxPaymentAttempts: settings.PAYMENT_ATTEMPTS,
	maxPayerPrompts: settings.PAYER_PROMPTS,
	/** In 15 minutes, per network and in total. */
	maxUnpaidPrompts: { source: settings.UNPAID_PROMPTS, total: settings.UNPAID_PROMPTS_TOTAL },
	/** In major units. */
	maxPrice: settings.MAX_PRICE,
	commissionBasisPoints: settings.COMMISSION_BASIS_POINTS,
	payoutApproval: settings.PAYOUT_APPROVAL
});

const basemapConfig = ({ BASEMAP, BASEMAP_ATTRIBUTION, DATA_DIR }: Settings) => ({
	path: BASEMAP ?? join(DATA_DIR, 'basemap.pmtiles'),
	/** A file that a setting names must be there. */
	isNamed: BASEMAP !== undefined,
	attribution: BASEMAP_ATTRIBUTION ?? OPENSTREETMAP
});

/** Returns the highest whole price per hour at which the longest order still fits the wire format. */
function computeHighestPrice(currency: string): number {
	const hours = durationSeconds(MAX_DURATION) / 3600;
	return Math.floor(toMajor(Math.floor(MAX_AMOUNT_MINOR / hours), currency));
}

export const formatConfigTable = (): string =>
	[formatSettingsTable(SETTINGS), operatorTables()].join('\n\n').trim();

/**
 * Reads the sandbox's secret, or creates it, readable only by its owner. Links a temporary file into place:
 * processes that start at once share one secret, and none reads half of it.
 */
function readOrCreateSandboxSecret(dataDir: string): string {
	const path = join(dataDir, 'sandbox-secret');
	const aside = `${path}.${process.pid}`;
	createPrivateFolder(dataDir);
	if (!existsSync(path)) {
		writeFileSync(aside, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
		try {
			linkSync(aside, path);
		} catch (error) {
			if (!existsSync(path)) throw error;
		} finally {
			rmSync(aside, { force: true });
		}
	}
	const secret = readFileSync(path, 'utf8').trim();
	if (secret.length < MIN_SECRET_LENGTH) {
		const problem = `${path}: is damaged. Restore it from a backup, or set AIRTILL_SECRET to its content.`;
		throw refuseSettings([problem]);
	}
	return secret;
}
