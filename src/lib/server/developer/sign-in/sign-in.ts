import type { Account, Accounts } from '../accounts/accounts.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Mailer } from '#lib/server/platform/mail.ts';
import { equalSecrets, type Secrets } from '#lib/server/platform/secrets.ts';
import { createAuth, type Auth } from './auth.ts';
import { passwordLinkMail } from './mails.ts';

export type { Auth } from './auth.ts';

/**
 * Sign-in to the developer and owner areas. Sign-up, a forgotten password and an administrator's invitation all send a
 * password link to the address. The first password connects the user to the account of the address, or creates one.
 */
export interface SignIn {
	/** Tells the administrator why links cannot be sent; null if they can. */
	readonly mailProblem: string | null;
	/** Returns better-auth for an origin; loads it on the first call. */
	auth(origin: string): Promise<Auth>;
	/**
	 * Sends a password link in the background, so that the response time does not reveal whether the address is known.
	 *
	 * @param request.isNew send to unknown addresses too
	 */
	mailLink(request: { email: string; origin: string; isNew: boolean }): void;
	/** Returns the address of a link; null if the link was used, is expired or does not exist. */
	linkOwner(token: string, origin: string): Promise<string | null>;
	/** Creates a password link that the administrator hands over. */
	invite(account: Account, origin: string): Promise<string>;
	/** Returns a user's account; null while the address is unconfirmed. */
	accountOf(user: { accountId?: number | null | undefined }): Promise<Account | null>;
	/** Derives the password of a demo account from the sandbox's secret. */
	demoPassword(email: string): string;
	/** Creates the demo user if its e-mail and derived password were typed. */
	ensureDemoUser(typed: { email: string; password: string }, origin: string): Promise<void>;
	/** Waits for background work. */
	stop(): Promise<void>;
}

export interface SignInDependencies {
	database: Database;
	clock: Clock;
	config: Config;
	log: Log;
	secrets: Secrets;
	accounts: Accounts;
	mailer: Mailer;
	/** Used only in a sandbox with demo data. */
	demoEmails: readonly string[];
}

const SECRET_BYTES = 32;
const LINK_SECONDS = 60 * 60;
const INVITATION_SECONDS = 24 * 60 * 60;
/** A sandbox without ORIGIN can be opened under several names. */
const MAX_ORIGINS = 20;
/** Unconfirmed addresses are deleted after this. */
const UNCONFIRMED_MS = 7 * 24 * 60 * 60 * 1000;
const DEMO_PASSWORD_BYTES = 9;
const NOT_MAILED = 'a sign-in link was not mailed';

const linkUrl = (origin: string, token: string) =>
	`${origin}/developer/password?token=${encodeURIComponent(token)}`;

/** Form of better-auth's tokens. */
const TOKEN = /^[\w-]{1,128}$/;

const normalise = (email: string) => email.trim().toLowerCase();

export function createSignIn(dependencies: SignInDependencies): SignIn {
	const { database, clock, config, log, secrets, accounts, mailer, demoEmails } = dependencies;
	const auths = new Map<string, Promise<Auth>>();
	const running = new Set<Promise<void>>();
	const mailProblem =
		mailer.problem ??
		(config.smtp && config.origin === null
			? 'ORIGIN is not set, so a link in a mail could lead anywhere.'
			: null);

	function build(origin: string, link: { seconds: number; deliver: Deliver }): Promise<Auth> {
		const auth: Promise<Auth> = createAuth({
			database,
			log,
			secret: secrets.derive('sign-in', SECRET_BYTES).toString('base64url'),
			origin,
			linkSeconds: link.seconds,
			deliver: link.deliver,
			onPasswordSet: async (userId) => confirm(await auth, userId)
		});
		return auth;
	}

	function authFor(origin: string): Promise<Auth> {
		const known = auths.get(origin);
		if (known) return known;
		const made = build(origin, {
			seconds: LINK_SECONDS,
			async deliver({ email, token }) {
				try {
					await mailer.send(passwordLinkMail({ email, url: linkUrl(origin, token), origin }));
				} catch (error) {
					// better-auth does not log the reason.
					log.error({ err: error }, NOT_MAILED);
				}
			}
		});
		if (auths.size >= MAX_ORIGINS) auths.clear();
		auths.set(origin, made);
		made.catch(() => auths.delete(origin));
		return made;
	}

	/** Connects a user, whose address is proven, to the account of that address. */
	async function confirm(auth: Auth, userId: string): Promise<void> {
		const { internalAdapter } = await auth.$context;
		const user = await internalAdapter.findUserById(userId);
		if (!user) return;
		const known = (user as { accountId?: number | null }).accountId ?? null;
		const accountId = known ?? (await accountFor(user.email)).id;
		await internalAdapter.updateUser(userId, { emailVerified: true, accountId });
	}

	async function accountFor(email: string): Promise<Account> {
		const account =
			(await accounts.findByEmail(email)) ??
			(await accounts.create({ email, role: 'app', plan: 'default' })) ??
			// Another request created it meanwhile.
			(await accounts.findByEmail(email));
		if (!account) throw new Error('An account can neither be found nor made');
		return account;
	}

	/** Finds or creates the user of an address. A new one has no password and is unconfirmed until a link is used. */
	async function ensureUser(auth: Auth, email: string): Promise<{ id: string }> {
		const { internalAdapter } = await auth.$context;
		const known = await internalAdapter.findUserByEmail(email);
		if (known) return known.user;
		try {
			return await internalAdapter.createUser(
				{ email, name: email, emailVerified: false },
				{ method: 'email-password' }
			);
		} catch (error) {
			const other = await internalAdapter.findUserByEmail(email);
			if (!other) throw error;
			return other.user;
		}
	}

	async function forgetUnconfirmed(auth: Auth): Promise<void> {
		const { adapter } = await auth.$context;
		await adapter.deleteMany({
			model: 'user',
			where: [
				{ field: 'emailVerified', value: false },
				{ field: 'createdAt', operator: 'lt', value: new Date(clock.now() - UNCONFIRMED_MS) }
			]
		});
	}

	async function mailNow({ email, origin, isNew }: { email: string; origin: string; isNew: boolean }) {
		const auth = await authFor(origin);
		if (isNew) {
			await forgetUnconfirmed(auth);
			await ensureUser(auth, email);
		} else if (await accounts.findByEmail(email)) {
			// Accounts from the command line have no user yet.
			await ensureUser(auth, email);
		}
		await auth.api.requestPasswordReset({ body: { email } });
	}

	const demoPassword = (email: string) =>
		(secrets.derive(`demo-password:${email}`, DEMO_PASSWORD_BYTES).toString('hex').match(/.{6}/g) ?? []).join(
			'-'
		);

	return {
		mailProblem,
		auth: authFor,
		mailLink(request) {
			const work = mailNow({ ...request, email: normalise(request.email) })
				.catch((error: unknown) => log.error({ err: error }, NOT_MAILED))
				.finally(() => running.delete(work));
			running.add(work);
		},
		async linkOwner(token, origin) {
			// PostgreSQL refuses a NUL in text.
			if (!TOKEN.test(token)) return null;
			const { internalAdapter } = await (await authFor(origin)).$context;
			const link = await internalAdapter.findVerificationValue(`reset-password:${token}`);
			if (!link || link.expiresAt.getTime() <= clock.now()) return null;
			return (await internalAdapter.findUserById(link.value))?.email ?? null;
		},
		async invite(account, origin) {
			let url: string | null = null;
			const auth = await build(origin, {
				seconds: INVITATION_SECONDS,
				async deliver({ token }) {
					url = linkUrl(origin, token);
				}
			});
			await ensureUser(auth, account.email);
			await auth.api.requestPasswordReset({ body: { email: account.email } });
			if (url === null) throw new Error('No link was made');
			return url;
		},
		accountOf: ({ accountId }) => accounts.find(accountId ?? 0),
		demoPassword,
		async ensureDemoUser({ email, password }, origin) {
			const demo = demoEmails.find((known) => known === normalise(email));
			if (demo === undefined || !config.demo || !equalSecrets(password, demoPassword(demo))) return;
			if (!(await accounts.findByEmail(demo))) return;
			const auth = await authFor(origin);
			const { internalAdapter, password: passwords } = await auth.$context;
			const { id } = await ensureUser(auth, demo);
			const kept = (await internalAdapter.findCredentialAccount(id))?.password;
			if (kept && (await passwords.verify({ hash: kept, password }))) return;
			const hash = await passwords.hash(password);
			if (kept) await internalAdapter.updatePassword(id, hash);
			else {
				await internalAdapter.createAccount({
					userId: id,
					accountId: id,
					providerId: 'credential',
					password: hash
				});
			}
			await confirm(auth, id);
		},
		async stop() {
			await Promise.allSettled(running);
		}
	};
}

type Deliver = (link: { email: string; token: string }) => Promise<void>;
