import type { Account, Accounts } from '../accounts/accounts.ts';
import type { Audit } from '#lib/server/audit/audit.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Mail, Mailer } from '#lib/server/platform/mail.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { createAttempts } from './attempts.ts';
import { createAuth, type Auth } from './auth.ts';
import { demoPassword, ensureDemoUser } from './demo-user.ts';
import { deleteInvitations, noteInvitation, passwordState, type Author } from './invitations.ts';
import { connectAccount, deleteLinks, deleteUnconfirmed, ensureUser } from './users.ts';

export { LONGEST_SESSION_MS, type Auth } from './auth.ts';

export interface SignInContext {
	database: Database;
	clock: Clock;
	config: Config;
	log: Log;
	secrets: Secrets;
	accounts: Accounts;
	audit: Audit;
	mailer: Mailer;
	/** Used only in a sandbox with demo data. */
	demoEmails: readonly string[];
}

/** `auths`: better-auth by origin. `running`: mails that are being sent. */
type State = SignInContext & { auths: Map<string, Promise<Auth>>; running: Set<Promise<void>> };

const SECRET_BYTES = 32;
const LINK_SECONDS = 60 * 60;
const INVITATION_SECONDS = 24 * 60 * 60;
/** A sandbox without ORIGIN can be opened under several names. */
const MAX_ORIGINS = 20;
const NOT_MAILED = 'a sign-in link was not mailed';
const TOKEN = /^[\w-]{1,128}$/;

/**
 * Sign-in to the developer and owner areas. Sign-up, a forgotten password and an administrator's invitation all
 * send a password link. The first password connects the user to the account of the address, or creates one.
 */
export function createSignIn(context: SignInContext) {
	const { config, mailer, accounts, secrets } = context;
	const state: State = { ...context, auths: new Map(), running: new Set() };
	return {
		/** Why links cannot be sent, for the administrator; null if they can. */
		mailProblem:
			mailer.problem ??
			(config.smtp && config.origin === null
				? 'ORIGIN is not set, so a link in a mail could lead anywhere.'
				: null),
		attempts: createAttempts(context),
		/** Loads better-auth on the first call for an origin. */
		auth: (origin: string) => authFor(state, origin),
		mailLink: (request: LinkRequest) => mailLink(state, request),
		linkOwner: (token: string, origin: string) => linkOwner(state, token, origin),
		createAccount: (account: NewAccount, author: Author, origin: string) =>
			createAccount(state, account, author, origin),
		invite: (account: Account, author: Author, origin: string) => invite(state, account, author, origin),
		passwordState: async (account: Account, origin: string) =>
			passwordState(state, await authFor(state, origin), account),
		deleteInvitations: async (account: Account, author: Author, origin: string) =>
			deleteInvitations(state, await authFor(state, origin), account, author),
		deleteLinks: async (userId: string, origin: string) => deleteLinks(await authFor(state, origin), userId),
		/** Returns null while the address is unconfirmed. */
		accountOf: ({ accountId }: { accountId?: number | null | undefined }) => accounts.find(accountId ?? 0),
		demoPassword: (email: string) => demoPassword(secrets, email),
		/** Creates the demo user if `typed` has its e-mail and derived password. */
		ensureDemoUser: (typed: { email: string; password: string }, origin: string) =>
			ensureDemoUser(context, () => authFor(state, origin), typed),
		stop: () => Promise.allSettled(state.running)
	};
}

/** Owners choose their password in the language of their pages. */
const linkUrl = (origin: string, account: Account | null, token: string) =>
	`${origin}/${account?.role === 'owner' ? 'owner' : 'developer'}/password?token=${encodeURIComponent(token)}`;

function authFor(state: State, origin: string): Promise<Auth> {
	const { auths } = state;
	const known = auths.get(origin);
	if (known) return known;
	const made = build(state, origin, LINK_SECONDS, () =>
		Promise.reject(new Error('Links have their own instance'))
	);
	if (auths.size >= MAX_ORIGINS) auths.clear();
	auths.set(origin, made);
	made.catch(() => auths.delete(origin));
	return made;
}

function build(
	context: SignInContext,
	origin: string,
	linkSeconds: number,
	deliver: (link: { email: string; token: string }) => Promise<void>
): Promise<Auth> {
	const { database, log, secrets } = context;
	const auth: Promise<Auth> = createAuth({
		database,
		log,
		secret: secrets.derive('sign-in', SECRET_BYTES).toString('base64url'),
		origin,
		linkSeconds,
		deliver,
		async onPasswordSet(userId) {
			await deleteLinks(await auth, userId);
			await connectAccount(context, await auth, userId);
		}
	});
	return auth;
}

interface LinkRequest {
	email: string;
	origin: string;
	/** Sends to unknown addresses too. */
	isNew: boolean;
	/** Writes the mail with the link. */
	write(url: string): Pick<Mail, 'subject' | 'text'>;
}

/** Sends in the background, so that the response time does not reveal whether the address is known. */
function mailLink(state: State, request: LinkRequest): void {
	const { running, log } = state;
	const work = mailNow(state, request)
		.catch((error: unknown) => log.error({ err: error }, NOT_MAILED))
		.finally(() => running.delete(work));
	running.add(work);
}

async function mailNow(state: State, request: LinkRequest): Promise<void> {
	const { log, mailer } = state;
	const { origin, isNew, write } = request;
	const email = request.email.trim().toLowerCase();
	const account = await state.accounts.findByEmail(email);
	const auth = await build(state, origin, LINK_SECONDS, async ({ token }) => {
		try {
			await mailer.send({ to: email, ...write(linkUrl(origin, account, token)) });
		} catch (error) {
			// better-auth does not log the reason.
			log.error({ err: error }, NOT_MAILED);
		}
	});
	if (isNew) await deleteUnconfirmed(auth, state.clock.now());
	// Accounts from the command line have no user yet.
	if (isNew || account) await ensureUser(auth, email);
	await auth.api.requestPasswordReset({ body: { email } });
}

/** Returns the e-mail address of a link; null if it is used, expired or unknown. */
async function linkOwner(state: State, token: string, origin: string): Promise<string | null> {
	// Excludes NUL, which PostgreSQL refuses in text.
	if (!TOKEN.test(token)) return null;
	const { internalAdapter } = await (await authFor(state, origin)).$context;
	const link = await internalAdapter.findVerificationValue(`reset-password:${token}`);
	if (!link || link.expiresAt.getTime() <= state.clock.now()) return null;
	return (await internalAdapter.findUserById(link.value))?.email ?? null;
}

type NewAccount = Parameters<Accounts['create']>[0];

/**
 * Creates an account, with an invitation if its role does not sign up itself.
 * @returns null if the e-mail address is taken
 */
async function createAccount(
	state: State,
	wanted: NewAccount,
	author: Author,
	origin: string
): Promise<{ account: Account; invitation: string | null } | null> {
	const account = await state.accounts.create(wanted, author.by, author.note);
	if (!account) return null;
	return {
		account,
		invitation: account.role === 'app' ? null : await invite(state, account, author, origin)
	};
}

/** Returns a password link, which the administrator hands over. */
async function invite(state: State, account: Account, author: Author, origin: string): Promise<string> {
	const { email } = account;
	let url: string | null = null;
	const auth = await build(state, origin, INVITATION_SECONDS, async ({ token }) => {
		url = linkUrl(origin, account, token);
	});
	await ensureUser(auth, email);
	await auth.api.requestPasswordReset({ body: { email } });
	if (url === null) throw new Error('No link was made');
	// Nobody sees the link without its entry.
	await noteInvitation(state, 'account.invited', account, author);
	return url;
}
