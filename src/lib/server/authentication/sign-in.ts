import { createAttempts } from './attempts.ts';
import { type SignIn, openTables } from './context.ts';
import { deleteLinks } from './users.ts';
import { findAccount } from '../accounts/accounts.ts';

export { LONGEST_SESSION_MS, type Auth } from './auth.ts';
export { PENDING, readTypedCode } from './second-factor.ts';

/**
 * Sign-in of developers, owners, staff and administrators. Sign-up, a forgotten password and an administrator's invitation all
 * send a password link. The first password connects the user to the account of the address, or creates one.
 */
export const openSignIn = (context: Omit<SignIn, 'attempts' | 'auths' | 'running'>): SignIn => ({
	...context,
	attempts: createAttempts(context),
	auths: new Map(),
	running: new Set()
});

/** Returns why links cannot be sent, for the administrator; null if they can. */
export const findMailProblem = ({ config, mailer }: SignIn): string | null =>
	mailer.problem ??
	(config.smtp && config.origin === null
		? 'ORIGIN is not set, so a link in a mail could lead anywhere.'
		: null);

export const finishMails = ({ running }: SignIn) => Promise.allSettled(running);

/** Returns null while the address is unconfirmed. */
export const findSignInAccount = (state: SignIn, { accountId }: { accountId?: number | null | undefined }) =>
	findAccount(state, accountId ?? 0);

export const deleteLinksOf = async (state: SignIn, userId: string): Promise<void> =>
	deleteLinks(await openTables(state), userId);
