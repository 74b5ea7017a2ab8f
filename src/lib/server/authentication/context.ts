import type { Base } from '#lib/server/base.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Mailer } from '#lib/server/platform/mail.ts';
import { createAuth, type Auth } from './auth.ts';
import { connectAccount, deleteLinks } from './users.ts';

export interface SignInContext extends Base {
	accounts: Accounts;
	mailer: Mailer;
	/** Used only in a sandbox with demo data. */
	demoEmails: readonly string[];
}

export interface SignInState extends SignInContext {
	/** better-auth by origin. */
	auths: Map<string, Promise<Auth>>;
	/** Mails that are being sent. */
	running: Set<Promise<void>>;
}

/** A sandbox without ORIGIN can be opened under several names. */
const MAX_ORIGINS = 20;

/** Loads better-auth on the first call for an origin. */
export function authFor(state: SignInState, origin: string): Promise<Auth> {
	const { auths, database, log, secrets } = state;
	const known = auths.get(origin);
	if (known) return known;
	const made: Promise<Auth> = createAuth({
		database,
		log,
		secrets,
		origin,
		async onPasswordSet(userId) {
			await deleteLinks(await made, userId);
			await connectAccount(state, await made, userId);
		}
	});
	if (auths.size >= MAX_ORIGINS) auths.clear();
	auths.set(origin, made);
	made.catch(() => auths.delete(origin));
	return made;
}
