import { readFile } from 'node:fs/promises';
import path from 'node:path';

export { PAID_DAYS, UNPAID_HOURS } from '../gateways/captive-sessions/captive-sessions.ts';

/** Reads the administrator's Markdown of a page, in the language if there is one. Returns null without any. */
export async function ownText(dir: string | null, page: string, locale: string): Promise<string | null> {
	if (dir === null) return null;
	for (const name of [`${page}.${locale}.md`, `${page}.md`]) {
		try {
			return await readFile(path.join(dir, name), 'utf8');
		} catch (error) {
			if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
		}
	}
	return null;
}
