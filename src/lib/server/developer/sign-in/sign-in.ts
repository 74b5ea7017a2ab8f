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
 * Who may enter the developer area. Signing up, a forgotten password and an operator's invitation are one thing:
 * a link, mailed to the address, whose reader chooses a password. The first time, that ties the user to the
 * account of the address, or makes one.
 */
export interface SignIn {
	/** Why no link can be mailed, as a sentence for whoever runs the installation; null when it can. */
	readonly mailProblem: string | null;
	/** better-auth for pages at an address; loaded at the first call. */
	auth(origin: string): Promise<Auth>;
	/**
	 * Mails a link to choose a password, in the background: how long it takes tells nothing about the address.
	 * @param request.isNew also for an address that was never seen; otherwise such an address gets no mail
	 */
	mailLink(request: { email: string; origin: string; isNew: boolean }): void;
	/** The address that a link was mailed to, or null when it was used, is too old or was never made. */
	linkOwner(token: string, origin: string): Promise<string | null>;
	/** A link for an account, to be handed over by whoever runs the installation. */
	invite(account: Account, origin: string): Promise<string>;
	/** The account of a user; null while the address is not confirmed. */
	accountOf(user: { accountId?: number | null | undefined }): Promise<Account | null>;
	/** Password of a demo account, derived from the sandbox's secret. */
	demoPassword(email: string): string;
	/** Makes sure that a demo account can sign in with its derived password, if that is what was typed. */
	ensureDemoUser(typed: { email: string; password: string }, origin: string): Promise<void>;
	/** Ends what runs in the background. */
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
	/** Addresses of the demo accounts; they exist in a sandbox with demo data only. */
	demoEmails: readonly string[];
}

const SECRET_BYTES = 32;
const LINK_SECONDS = 60 * 60;
const INVITATION_SECONDS = 24 * 60 * 60;
/** A sandbox without ORIGIN may be opened under several names. */
const MAX_ORIGINS = 20;
/** Addresses that were typed and never confirmed are forgotten. */
const UNCONFIRMED_MS = 7 * 24 * 60 * 60 * 1000;
const DEMO_PASSWORD_BYTES = 9;
const NOT_MAILED = 'a sign-in link was not mailed';

/** Where a link leads. */
const linkUrl = (origin: string, token: string) =>
	`${origin}/developer/password?token=${encodeURIComponent(token)}`;

/** Tokens as better-auth makes them. */
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
					// Here, because better-auth keeps the reason to itself.
					log.error({ err: error }, NOT_MAILED);
				}
			}
		});
		if (auths.size >= MAX_ORIGINS) auths.clear();
		auths.set(origin, made);
		made.catch(() => auths.delete(origin));
		return made;
	}

	/** The address is its owner's: the user gets the account of that address, once and for good. */
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
			// Made by another request in this very moment.
			(await accounts.findByEmail(email));
		if (!account) throw new Error('An account can neither be found nor made');
		return account;
	}

	/** The user of an address, made where there is none; without password and unconfirmed until a link is used. */
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
			// An account that was made on the command line has no user yet; its owner may still want a password.
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
			// What no link of ours has is not looked for: PostgreSQL takes a NUL for an error.
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
