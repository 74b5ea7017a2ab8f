import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { HOUR_MS } from '#lib/domain/time/time.ts';
import type { ProxySettings } from '../http/client-address.ts';
import { createAudit } from '../audit.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { isoTime, systemClock } from '../platform/clock.ts';
import { isOpenToAll } from '../platform/private-files.ts';
import { isPublicAddress } from '#lib/domain/ip-address.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

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
	for (const [folder, use] of folders) yield await diskFinding(folder, use);
	// The server removes this access at its next start if it owns the files.
	for (const path of data.filter(isOpenToAll)) {
		yield warn('disk', `every user of this machine has access to ${path}`, `run chmod o= ${path}`);
	}
}

async function diskFinding(folder: string, use: string): Promise<Finding> {
	const existing = nearestExisting(folder);
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
const nearestExisting = (folder: string): string =>
	existsSync(folder) ? folder : nearestExisting(dirname(folder));

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
		const what = 'no mail server is configured, so nobody can sign up or reset a password in /developer';
		yield warn('mail', what, 'set SMTP_URL and MAIL_FROM, or create links with "accounts invite"');
	} else if (origin === null) {
		yield warn('mail', 'ORIGIN is not set, so no link can be mailed', 'set ORIGIN to the public address');
	} else yield ok('mail', `mails are sent through ${new URL(smtp.url).host}`);
}

function isLocal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	return isIP(host) ? !isPublicAddress(host) : !host.includes('.') || host.endsWith('.localhost');
}
