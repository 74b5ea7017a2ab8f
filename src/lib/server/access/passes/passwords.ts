import type { Queries } from '#lib/server/db/database.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { newestWithPassword, type PassRow } from './store.ts';

/** The associated data of a sealed password: binds it to its pass. */
const contextOf = ({ id, password_session_id: sessionId }: Pick<PassRow, 'id' | 'password_session_id'>) =>
	sessionId === null ? `pass:${id}` : `session:${sessionId}`;

/** Opens the password of a pass; null when it was erased. @throws Error when the secret or the pass does not fit */
export const openPassword = (secrets: Secrets, pass: PassRow): string | null =>
	pass.password_sealed === null ? null : secrets.decrypt(pass.password_sealed, contextOf(pass));

/** The columns of a pass that store a password. */
export const sealPassword = (secrets: Secrets, id: number, password: string) => ({
	password_sealed: secrets.encrypt(password, contextOf({ id, password_session_id: null })),
	password_session_id: null
});

/**
 * Tries whether the installation's secret opens stored passwords, with the newest one.
 * @returns null when no pass has a password
 */
export async function canReadPasswords(queries: Queries, secrets: Secrets): Promise<boolean | null> {
	const pass = await newestWithPassword(queries);
	if (!pass) return null;
	try {
		return openPassword(secrets, pass) !== null;
	} catch {
		return false;
	}
}
