import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { MIN_SECRET_LENGTH } from './fields.ts';
import { createPrivateFolder } from '../platform/private-files.ts';

/**
 * Reads the sandbox's secret, or creates it, readable only by its owner. Links a temporary file into place:
 * processes that start at once share one secret, and none reads half of it.
 */
export function sandboxSecret(dataDir: string): { secret: string } | { problem: string } {
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
		return {
			problem: `${path}: is damaged. Restore it from a backup, or set AIRTILL_SECRET to its content.`
		};
	}
	return { secret };
}
