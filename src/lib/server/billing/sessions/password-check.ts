import type { Queries } from '#lib/server/db/database.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { passwordContext } from './passwords.ts';
import * as store from './store.ts';

/**
 * Whether the installation's secret opens a stored password: a changed secret leaves buyers without what they
 * paid for. Tries the newest active session.
 * @returns null when no session is active
 */
export async function canReadPasswords(queries: Queries, secrets: Secrets): Promise<boolean | null> {
	const session = await store.newestActive(queries);
	if (!session || session.password_sealed === null) return null;
	try {
		secrets.decrypt(session.password_sealed, passwordContext(session.id));
		return true;
	} catch {
		return false;
	}
}
