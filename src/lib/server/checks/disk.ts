import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { isOpenToAll } from '../platform/private-files.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

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
