import { countOpenReviews } from './billing/reviews.ts';
import { findCrowdedPools } from './billing/prompt-limits.ts';
import { findMerchantErrors, formatPortalCallbackUrl } from './billing/operator-calls.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/domain/time.ts';
import { type Gateways, type RegisteredGateway, findAdapter, listGateways } from './gateways/gateways.ts';
import { levelProblem } from './gateways/opennds.ts';
import { isoTime, systemClock } from './platform/clock.ts';
import { type Routers, listUnverifiedRouters } from './routers/routers.ts';
import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { ProxySettings } from './http/client-address.ts';
import { createAudit } from './audit.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/database.ts';
import { isOpenToAll } from './platform/private-files.ts';
import { isPublicAddress } from '#lib/domain/address.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from './base.ts';
import type { Operators } from './billing/operators/registry.ts';

/**
 * Checks of stored data and settings: `airtill doctor` and the overview at /admin show what they find, with the next
 * step. They call no gateway and no operator.
 */

export interface Finding {
	level: 'ok' | 'warn' | 'FAIL';
	/** The subject, e.g. `database`. */
	name: string;
	what: string;
	/** The next step; null if none is needed. */
	advice: string | null;
}

const createFinding =
	(level: 'warn' | 'FAIL') =>
	(name: string, what: string, advice: string): Finding => ({ level, name, what, advice });

export const ok = (name: string, what: string): Finding => ({ level: 'ok', name, what, advice: null });
export const warn = createFinding('warn');
export const fail = createFinding('FAIL');

const MAX_NAMED = 5;
/** With a larger offset, a gateway refuses Disconnect-Requests (RFC 5176) and misdates its reports. */
const MAX_OFFSET_MS = MINUTE_MS / 2;

export async function* checkGateways(app: ChecksContext): AsyncGenerator<Finding> {
	let count = 0;
	let problems = 0;
	for await (const gateway of listGateways(app.gateways)) {
		count += 1;
		for (const { level, name, what, advice } of checkGateway(app, gateway)) {
			if (level === 'ok') continue;
			problems += 1;
			// Only a warning, because the other gateways keep working.
			const ofAll = { name: 'gateways', what: `${gateway.name}, ${name}: ${what}`, advice };
			yield { ...ofAll, level: name === 'secrets' ? level : 'warn' };
		}
	}
	if (count === 0) yield ok('gateways', 'none is registered');
	else if (problems === 0) yield ok('gateways', `${count}, without problems`);
	const open = await listUnverifiedRouters(app.routers, MAX_NAMED + 1);
	if (open.length === 0) return;
	const names = open.slice(0, MAX_NAMED).map(({ id, name }) => `${id} ${name}`);
	const more = open.length > MAX_NAMED ? ' and more' : '';
	const what = `routers of which no gateway has responded: ${names.join(', ')}${more}`;
	// A sandbox has made-up routers.
	if (app.config.mode === 'sandbox') yield ok('access', `${what}; only a sandbox sells them`);
	else {
		const advice = 'connect a gateway, or confirm at /admin/routers that buyers get access';
		yield fail('access', `${what}; they do not sell`, advice);
	}
}

export function* checkGateway(
	context: Pick<ChecksContext, 'clock' | 'config'>,
	gateway: RegisteredGateway
): Generator<Finding> {
	if (gateway.unreadable.length > 0) {
		const advice = `restore it, or run "gateways rotate ${gateway.name} ${gateway.unreadable.join(' ')}"`;
		yield fail('secrets', 'AIRTILL_SECRET does not open its key or secrets; nothing is sold there', advice);
		return;
	}
	yield* checkCredentials(gateway);
	const problem = levelProblem(gateway.settings, context.config.origin);
	if (problem !== null) yield fail('level', problem.what, problem.advice);
	yield* checkActivity(context, gateway);
	yield* checkDeviceNames(context, gateway);
	if (gateway.clockOffsetMs !== null) yield checkClock(gateway.clockOffsetMs);
}

function* checkCredentials(gateway: RegisteredGateway): Generator<Finding> {
	const { mode, credentials: given, settings, secret, name } = gateway;
	const { secretName } = findAdapter(gateway.kind);
	const missing = [
		...(secretName !== null && secret === null ? [`${secretName} (--secret)`] : []),
		...(mode === 'radius' && !given.radiusSecret ? ['RADIUS secret (--radius-secret)'] : []),
		...(['radius', 'poll', 'fetch'].includes(mode) && !given.token ? ['token (--token)'] : [])
	];
	if (missing.length > 0) {
		yield fail('secrets', `missing: ${missing.join(', ')}`, `create them with "gateways rotate ${name}"`);
	} else yield ok('secrets', 'complete');
	if (mode !== 'radius') return;
	if (settings.nas === undefined) {
		const advice = `give it with "gateways set ${name} --nas ADDRESS": without it devices cannot be disconnected early`;
		yield warn('RADIUS client', 'its address is unknown', advice);
	} else
		yield ok('RADIUS client', `${settings.nas}, Disconnect-Requests to port ${settings.nasPort ?? 3799}`);
}

/** Later, the gateway may have been configured anew. */
const UNREAD_SHOWN_MS = 7 * DAY_MS;

function* checkDeviceNames({ clock }: Pick<ChecksContext, 'clock'>, { unreadDevice }: RegisteredGateway) {
	if (unreadDevice === null || clock.now() - unreadDevice.at > UNREAD_SHOWN_MS) return;
	const { notation, at } = unreadDevice;
	const what =
		notation === ''
			? 'it named a device by nothing'
			: `it named a device by "${notation.replace(/[^ -~]/g, '?')}", which is no MAC address`;
	const advice =
		'let it send the MAC address as Calling-Station-Id: a device without one takes a device slot at each sign-in';
	yield warn('device names', `${what} (${isoTime(at)})`, advice);
}

function checkClock(offsetMs: number): Finding {
	const seconds = Math.round(offsetMs / 1000);
	const what = `its clock is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} ours`;
	return Math.abs(offsetMs) <= MAX_OFFSET_MS
		? ok('clock', what)
		: warn('clock', what, 'let it use NTP; its reports have wrong dates, but buyers lose no time');
}

function* checkActivity(
	{ clock, config }: Pick<ChecksContext, 'clock' | 'config'>,
	gateway: RegisteredGateway
): Generator<Finding> {
	const { mode, seenAt, unresponsiveSince, trouble } = gateway;
	const minutesSince = (at: number) => Math.max(0, Math.round((clock.now() - at) / MINUTE_MS));
	const advice = 'its router does not sell until it responds; check its configuration, power and internet';
	if (trouble !== null) {
		yield fail('last attempt', trouble.replace(/\.$/, ''), 'Airtill tries again automatically');
	}
	if (unresponsiveSince !== null) {
		const outage =
			seenAt === null ? 'none yet' : `unresponsive for ${minutesSince(unresponsiveSince)} minutes`;
		yield fail('last message', outage, advice);
	} else if (seenAt !== null) yield ok('last message', `${minutesSince(seenAt)} minutes ago`);
	else if (mode === 'browser' || mode === 'external') {
		yield ok('last message', 'this kind sends none');
	} else {
		const normal = 'normal before the first buyer; otherwise check its configuration';
		const unsold = 'its splash page sells nothing before the first one; check its configuration';
		yield warn('last message', 'none yet', config.mode === 'live' ? unsold : normal);
	}
}

/** Checks of the machine and its settings. They call no address. */

const GIB_BYTES = 1024 ** 3;
const WARN_BYTES = GIB_BYTES;
const FAIL_BYTES = GIB_BYTES / 10;

export async function* checkDisk({ dataDir, databaseUrl }: Config): AsyncGenerator<Finding> {
	const folders = new Map([[resolve(dataDir), 'files']]);
	const data = [resolve(dataDir)];
	if (databaseUrl.startsWith('file:')) {
		const file = resolve(databaseUrl.slice('file:'.length));
		const folder = dirname(file);
		folders.set(folder, folders.has(folder) ? 'files and database' : 'database');
		data.push(file);
	}
	for (const [folder, use] of folders) yield await checkFolder(folder, use);
	// The server removes this access at its next start if it owns the files.
	for (const path of data.filter(isOpenToAll)) {
		yield warn('disk', `every user of this machine has access to ${path}`, `run chmod o= ${path}`);
	}
}

async function checkFolder(folder: string, use: string): Promise<Finding> {
	const existing = findNearestExisting(folder);
	try {
		await access(existing, constants.R_OK | constants.W_OK | constants.X_OK);
		const { bavail, bsize } = await statfs(existing);
		const freeBytes = bavail * bsize;
		const what = `${(freeBytes / GIB_BYTES).toFixed(1)} GiB free for ${use} in ${folder}`;
		const advice = 'free some space, or move it to a larger disk';
		if (freeBytes < FAIL_BYTES) return fail('disk', what, advice);
		return freeBytes < WARN_BYTES ? warn('disk', what, advice) : ok('disk', what);
	} catch (error) {
		if (!(error instanceof Error && 'errno' in error)) throw error;
		return fail('disk', `${folder} (${use}): ${error.message}`, 'allow this user to read and write there');
	}
}

/** Airtill creates its folders when it needs them. */
const findNearestExisting = (folder: string): string =>
	existsSync(folder) ? folder : findNearestExisting(dirname(folder));

/** Action of the entries in the audit log. */
export const BACKUP_ACTION = 'database.backup';

/** A daily backup that failed twice. */
const MAX_AGE_HOURS = 48;

/** Knows the backups of `airtill backup` only. */
export async function* checkBackup({ mode }: Config, { db }: Database): AsyncGenerator<Finding> {
	const at = await createAudit(systemClock).newest(db, BACKUP_ACTION);
	const hours = at === null ? null : Math.max(0, Math.floor((systemClock.now() - at) / HOUR_MS));
	const what = hours === null ? 'none so far' : `the last one is ${hours} hours old (${isoTime(at)})`;
	const isFine = mode === 'sandbox' || (hours !== null && hours <= MAX_AGE_HOURS);
	yield isFine ? ok('backup', what) : warn('backup', what, 'run "airtill backup FILE" every day');
}

export function* checkAddresses(
	{ mode, origin, callbackUrl, contacts, smtp }: Config,
	{ addressHeader }: ProxySettings
): Generator<Finding> {
	const isSandbox = mode === 'sandbox';
	if (origin?.startsWith('https:')) yield ok('address', origin);
	else if (isSandbox) yield ok('address', origin ?? 'links follow the Host header, over plain http');
	else {
		const what = origin ? `${origin} is plain http` : 'ORIGIN is not set, so links use plain http';
		yield warn('address', what, 'set ORIGIN to the public https address');
	}
	// Only a proxy serves https.
	if (origin?.startsWith('https:') && addressHeader === '') {
		const what = 'ADDRESS_HEADER is not set, so all buyers behind the proxy count as one network';
		yield warn('proxy', what, 'set ADDRESS_HEADER and XFF_DEPTH for your proxy');
	}

	if (isSandbox) yield ok('callbacks', `the sandbox operator calls ${callbackUrl}`);
	else if (isLocal(callbackUrl)) {
		const what = `operators cannot reach ${callbackUrl} from outside`;
		yield fail('callbacks', what, 'set ORIGIN or CALLBACK_URL to the public address');
	} else if (!callbackUrl.startsWith('https:')) {
		const advice = 'most operators call https addresses only: set CALLBACK_URL';
		yield warn('callbacks', `${callbackUrl} is plain http`, advice);
	} else yield ok('callbacks', `operators call ${callbackUrl}`);

	if (!isSandbox && contacts.length === 0) {
		yield warn('contact', 'buyers find no phone number or email address under /help', 'set CONTACT');
	}

	if (!smtp && isSandbox) yield ok('mail', 'mails are printed, not sent');
	else if (!smtp) {
		const what =
			'no mail server is configured, so nobody can sign up or reset a password, and no invitation or alert is mailed';
		yield warn('mail', what, 'set SMTP_URL and MAIL_FROM, or create links with "accounts invite"');
	} else if (origin === null) {
		yield warn('mail', 'ORIGIN is not set, so no link can be mailed', 'set ORIGIN to the public address');
	} else yield ok('mail', `mails are sent through ${new URL(smtp.url).host}`);
}

function isLocal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	return isIP(host) ? !isPublicAddress(host) : !host.includes('.') || host.endsWith('.localhost');
}

/** Reads stored data and calls no operator. */
export async function* checkOperators(app: ChecksContext): AsyncGenerator<Finding> {
	for (const { id, capabilities, refund } of app.operators.all()) {
		if (!refund) {
			const advice = 'set its credentials for refunds, or look at /admin/reviews daily and refund by hand';
			yield warn('operator', `${id}: sends no money back`, advice);
		}
		if (capabilities.usesPortalCallback) {
			const url = formatPortalCallbackUrl(app, id);
			yield ok('operator', `${id}: the callback address for its portal is ${url}`);
		}
	}
	yield* checkMerchants(await findMerchantErrors(app));
	const { count, oldest } = await countOpenReviews(app.database.db);
	if (count === 0) yield ok('reviews', 'no review is open');
	else
		yield warn(
			'reviews',
			`${count} open, the oldest since ${isoTime(oldest)}`,
			'decide them at /admin/reviews'
		);
	yield* checkPrompts(await findCrowdedPools(app));
	if (app.config.mode === 'live' && app.config.operators.length === 0) {
		const what = 'no mobile-money operator is configured, so nobody can pay';
		yield fail('operator', what, 'configure one (AIRTILL_MODE=sandbox needs none)');
	}
}

const ASKED_BY = {
	pages: 'buyers of the pages',
	devices: 'devices that gateways redirected',
	api: 'accounts of the API'
};

function* checkPrompts(pools: Awaited<ReturnType<typeof findCrowdedPools>>) {
	for (const pool of pools) {
		const what = `too many payment prompts of the last 15 minutes are unpaid: ${ASKED_BY[pool]} that have not paid in 24 hours get no more`;
		yield warn('prompts', what, 'find out who sends them, or raise UNPAID_PROMPTS_TOTAL');
	}
}

const MAX_QUOTE_LENGTH = 200;

function* checkMerchants(errors: Awaited<ReturnType<typeof findMerchantErrors>>): Generator<Finding> {
	const byOperator = Map.groupBy(errors, ({ operator }) => operator);
	for (const [operator, [last, ...others]] of byOperator) {
		const times = others.length === 0 ? 'a payment' : `${others.length + 1} payments`;
		const quote = last?.raw?.slice(0, MAX_QUOTE_LENGTH) ?? '';
		const what = `${operator}: refused ${times} in 24 hours because of our account or settings, last at ${isoTime(last?.received_at ?? null)}: ${quote}`;
		yield warn('operator', what, "correct the operator's settings, then buy something as a test");
	}
}

interface ChecksContext extends Base {
	operators: Operators;
	gateways: Gateways;
	routers: Routers;
}

/** A page waits no longer. */
const LIMIT_MS = 3_000;

/**
 * Runs the checks of `airtill doctor` that call nobody, for a page. Each group has a time limit and cannot stop the
 * others.
 */
export async function runChecks(context: ChecksContext, proxy: ProxySettings): Promise<Finding[]> {
	const { config } = context;
	const groups = {
		disk: checkDisk(config),
		backup: checkBackup(config, context.database),
		operator: checkOperators(context),
		// A remote API has its own routers and gateways.
		...(config.remoteApi ? {} : { gateways: checkGateways(context) }),
		address: checkAddresses(config, proxy)
	};
	const found = Object.entries(groups).map(([name, findings]) => inTime(context, name, findings));
	return (await Promise.all(found)).flat();
}

async function inTime(
	{ log }: ChecksContext,
	name: string,
	findings: AsyncIterable<Finding> | Iterable<Finding>
): Promise<Finding[]> {
	const late = sleep(LIMIT_MS, [warn(name, 'not checked in time', 'run "airtill doctor"')], { ref: false });
	const found = Array.fromAsync(findings).catch((error: unknown) => {
		log.warn({ err: error }, 'a check failed');
		return [warn(name, 'the check itself failed', 'see the log, and run "airtill doctor"')];
	});
	return Promise.race([found, late]);
}
