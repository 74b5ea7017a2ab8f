import { binder } from '#lib/server/platform/bind.ts';
import { createAttempts } from './attempts.ts';
import { openAuth, openTables, type SignInContext, type SignInState } from './context.ts';
import { deriveDemoPassword, ensureDemoUser } from './demo-user.ts';
import {
	createInvitedAccount,
	deleteInvitations,
	forgetUser,
	findLinkInvitation,
	inviteAccount,
	findLinkOwner,
	mailInvitation,
	mailLink,
	findPasswordState,
	removeSecondFactor
} from './links.ts';
import { deleteLinks } from './users.ts';
import { findAccount } from '../accounts/accounts.ts';

export { LONGEST_SESSION_MS, type Auth } from './auth.ts';
export { PENDING, readTypedCode } from './second-factor.ts';

/**
 * Sign-in of developers, owners, staff and administrators. Sign-up, a forgotten password and an administrator's invitation all
 * send a password link. The first password connects the user to the account of the address, or creates one.
 */
export function createSignIn(context: SignInContext) {
	const { config, mailer, secrets } = context;
	const state: SignInState = { ...context, auths: new Map(), running: new Set() };
	const bind = binder(state);
	return {
		/** Why links cannot be sent, for the administrator; null if they can. */
		mailProblem:
			mailer.problem ??
			(config.smtp && config.origin === null
				? 'ORIGIN is not set, so a link in a mail could lead anywhere.'
				: null),
		attempts: createAttempts(context),
		auth: bind(openAuth),
		mailLink: bind(mailLink),
		linkOwner: bind(findLinkOwner),
		createAccount: bind(createInvitedAccount),
		invitationOf: bind(findLinkInvitation),
		invite: bind(inviteAccount),
		mailInvitation: bind(mailInvitation),
		passwordState: bind(findPasswordState),
		deleteInvitations: bind(deleteInvitations),
		removeSecondFactor: bind(removeSecondFactor),
		forget: bind(forgetUser),
		deleteLinks: async (userId: string) => deleteLinks(await openTables(state), userId),
		/** Returns null while the address is unconfirmed. */
		accountOf: ({ accountId }: { accountId?: number | null | undefined }) =>
			findAccount(context, accountId ?? 0),
		demoPassword: (email: string) => deriveDemoPassword(secrets, email),
		ensureDemoUser: bind(ensureDemoUser),
		stop: () => Promise.allSettled(state.running)
	};
}
