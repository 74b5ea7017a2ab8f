import type { Queries } from '#lib/server/db/database.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { newestWithPassword, oldestOpenWithPassword, type PassRow } from './store.ts';

/** Associated data that binds a sealed password to its pass. */
const contextOf = ({ id, password_session_id: sessionId }: Pick<PassRow, 'id' | 'password_session_id'>) =>
	sessionId === null ? `pass:${id}` : `session:${sessionId}`;

/** Returns null when the password was erased. @throws Error when the secret or the pass does not match */
export const unsealPassword = (secrets: Secrets, pass: PassRow): string | null =>
	pass.password_sealed === null ? null : secrets.decrypt(pass.password_sealed, contextOf(pass));

export const sealPassword = (secrets: Secrets, id: number, password: string) => ({
	password_sealed: secrets.encrypt(password, contextOf({ id, password_session_id: null })),
	password_session_id: null
});

/**
 * Checks the installation's secret on the newest password, and on the oldest of an open pass: after a change of the
 * secret, new passes open although those of earlier buyers do not. Returns null when no pass has a password.
 */
export async function readablePasswords(
	queries: Queries,
	secrets: Secrets,
	now: number
): Promise<'all' | 'new' | 'none' | null> {
	const newest = await newestWithPassword(queries);
	if (!newest) return null;
	if (!isReadable(secrets, newest)) return 'none';
	return (await opensRunningPasses(queries, secrets, now)) ? 'all' : 'new';
}

/** Checks the password of the oldest pass whose time runs. */
export async function opensRunningPasses(queries: Queries, secrets: Secrets, now: number): Promise<boolean> {
	const oldest = await oldestOpenWithPassword(queries, now);
	return !oldest || isReadable(secrets, oldest);
}

function isReadable(secrets: Secrets, pass: PassRow): boolean {
	try {
		return unsealPassword(secrets, pass) !== null;
	} catch {
		return false;
	}
}
