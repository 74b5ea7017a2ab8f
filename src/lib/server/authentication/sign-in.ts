import { type Attempts, createAttempts } from './attempts.ts';
import { ensureAccount, findAccount, findAccountByEmail } from '../accounts/accounts.ts';
import type { Base } from '#lib/server/base.ts';
import type { Mailer } from '#lib/server/platform/mail.ts';
import type { BetterAuthOptions, BetterAuthPlugin, User } from 'better-auth';
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '#lib/developer/password-rule.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import { type Secrets, equalSecrets } from '#lib/server/platform/secrets.ts';
import { randomInt } from 'node:crypto';
import { normaliseEmail } from '#lib/domain/email.ts';
import { plainText } from '#lib/domain/text.ts';

/**
 * Sign-in of developers, owners, staff and administrators. Sign-up, a forgotten password and an administrator's invitation all
 * send a password link. The first password connects the user to the account of the address, or creates one.
 */
export const createSignIn = (context: Omit<SignIn, 'attempts' | 'auths' | 'running'>): SignIn => ({
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

export interface SignIn extends Base {
	mailer: Mailer;
	/** Used only in a sandbox with demo data. */
	demoEmails: readonly string[];
	attempts: Attempts;
	/** better-auth, with the cookies of http and of https. */
	auths: Map<boolean, Promise<Auth>>;
	/** Mails that are being sent. */
	running: Set<Promise<void>>;
}

/** Loads better-auth on the first call. */
export function openAuth(state: SignIn, isHttps: boolean): Promise<Auth> {
	const { auths, database, log, secrets } = state;
	const known = auths.get(isHttps);
	if (known) return known;
	const made: Promise<Auth> = createAuth({
		...{ database, log, secrets, isHttps },
		async onPasswordSet(userId) {
			const tables = await (await made).$context;
			await deleteLinks(tables, userId);
			await connectAccount(state, tables, userId);
		}
	});
	auths.set(isHttps, made);
	made.catch(() => auths.delete(isHttps));
	return made;
}

/** The tables are the same for both. */
export const openTables = async (state: SignIn): Promise<Tables> =>
	(await openAuth(state, state.config.origin?.startsWith('https:') ?? false)).$context;

/** Only an emailed link sets a password, because it proves that the address belongs to the person. */
interface AuthOptions {
	database: Database;
	log: Log;
	secrets: Secrets;
	isHttps: boolean;
	onPasswordSet(userId: string): Promise<void>;
}

const DAY_SECONDS = 24 * 60 * 60;
const SESSION_SECONDS = 14 * DAY_SECONDS;
/** A sign-in session ends this long after the sign-in, however often it is used. */
export const LONGEST_SESSION_MS = 30 * DAY_SECONDS * 1000;
/** Precision of "last active". A sign-in session in use is extended this often. */
const SEEN_EVERY_SECONDS = 5 * 60;
const SECRET_BYTES = 32;

async function createAuth(options: AuthOptions) {
	const { betterAuth } = await import('better-auth');
	const { database, log, secrets, isHttps } = options;
	const secret = secrets.derive('sign-in', SECRET_BYTES).toString('base64url');
	return betterAuth({
		appName: 'Airtill',
		// Our pages call it and make the links, so it needs no address of its own.
		baseURL: 'http://localhost',
		secret,
		// better-auth hashes passwords inside its transactions, which would block every SQLite writer.
		database: { db: database.db, type: database.kind, transaction: false },
		// Logs the message only: details may contain addresses or tokens.
		logger: { level: 'error', log: (_level, message) => log.error({ part: 'sign-in' }, message) },
		telemetry: { enabled: false },
		// Its limiter does not see calls from our forms, which web/sign-in/ limits.
		rateLimit: { enabled: false },
		advanced: {
			...cookies(isHttps),
			ipAddress: { disableIpTracking: true },
			// Our migrations create the tables.
			database: { validateSchema: false }
		},
		...TABLES,
		emailAndPassword: passwordOptions(options),
		plugins: [...(await secondFactor(secrets, secret))]
	});
}

/** Browsers accept a cookie named `__Host-` from this host over https only, so that no other host of the domain sets it. */
const cookies = (isHttps: boolean) =>
	isHttps
		? { cookiePrefix: '__Host-airtill', useSecureCookies: false, defaultCookieAttributes: { secure: true } }
		: { cookiePrefix: 'airtill', useSecureCookies: false };

/** Begins the identifier of a sign-in that waits for its second factor. */
export const PENDING = '2fa-';

const TIMES = { createdAt: 'created_at', updatedAt: 'updated_at' };

/** better-auth's tables, with our names. */
const TABLES = {
	user: {
		modelName: 'sign_in_users',
		fields: { emailVerified: 'email_verified', ...TIMES },
		additionalFields: {
			accountId: { type: 'number', required: false, input: false, fieldName: 'account_id' }
		}
	},
	session: {
		modelName: 'sign_in_sessions',
		fields: {
			userId: 'user_id',
			expiresAt: 'expires_at',
			ipAddress: 'ip_address',
			userAgent: 'user_agent',
			...TIMES
		},
		expiresIn: SESSION_SECONDS,
		updateAge: SEEN_EVERY_SECONDS
	},
	account: {
		modelName: 'sign_in_passwords',
		fields: {
			userId: 'user_id',
			accountId: 'account_id',
			providerId: 'provider_id',
			accessToken: 'access_token',
			refreshToken: 'refresh_token',
			idToken: 'id_token',
			accessTokenExpiresAt: 'access_token_expires_at',
			refreshTokenExpiresAt: 'refresh_token_expires_at',
			...TIMES
		}
	},
	verification: {
		modelName: 'sign_in_verifications',
		fields: { expiresAt: 'expires_at', ...TIMES },
		// Its signed cookie tells a sign-in from a password link.
		storeIdentifier: { default: 'hashed', overrides: { [PENDING]: 'plain' } }
	}
} as const satisfies BetterAuthOptions;

const passwordOptions = ({ onPasswordSet }: AuthOptions) => ({
	enabled: true,
	disableSignUp: true,
	requireEmailVerification: true,
	minPasswordLength: MIN_PASSWORD_CHARACTERS,
	maxPasswordLength: MAX_PASSWORD_CHARACTERS,
	revokeSessionsOnPasswordReset: true,
	onPasswordReset: ({ user }: { user: User }) => onPasswordSet(user.id)
});

export type Auth = Awaited<ReturnType<typeof createAuth>>;
type Tables = Awaited<Auth['$context']>;

/** Users with unconfirmed addresses are deleted after this. */
const UNCONFIRMED_MS = 7 * 24 * 60 * 60 * 1000;

interface SignInUser {
	id: string;
	twoFactorEnabled?: boolean | null;
}

export async function findUser({ internalAdapter }: Tables, email: string): Promise<SignInUser | null> {
	return (await internalAdapter.findUserByEmail(email))?.user ?? null;
}

/** A new user has no password and is unconfirmed until a link is used. */
export async function ensureUser(tables: Tables, email: string): Promise<{ id: string }> {
	const known = await findUser(tables, email);
	if (known) return known;
	try {
		const user = { email, name: email, emailVerified: false };
		return await tables.internalAdapter.createUser(user, { method: 'email-password' });
	} catch (error) {
		const other = await findUser(tables, email);
		if (!other) throw error;
		return other;
	}
}

/** Requires a proven address: connects the user to the account of that address. */
async function connectAccount(base: Base, { internalAdapter }: Tables, userId: string): Promise<void> {
	const user = await internalAdapter.findUserById(userId);
	if (!user) return;
	const known = (user as { accountId?: number | null }).accountId ?? null;
	const wanted = { email: user.email, role: 'app', plan: 'default' } as const;
	const accountId = known ?? (await ensureAccount(base, wanted, 'sign-up')).id;
	await internalAdapter.updateUser(userId, { emailVerified: true, accountId });
}

export async function deleteUnconfirmed({ adapter }: Tables, now: number): Promise<void> {
	await adapter.deleteMany({
		model: 'user',
		where: [
			{ field: 'emailVerified', value: false },
			{ field: 'createdAt', operator: 'lt', value: new Date(now - UNCONFIRMED_MS) }
		]
	});
}

/** Ends all password links of a user, and the sign-ins that wait for the second factor. */
export async function deleteLinks({ adapter }: Tables, userId: string): Promise<void> {
	await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: userId }] });
}

/** Returns false if the user has none. */
export async function deleteSecondFactor({ adapter, internalAdapter }: Tables, userId: string) {
	await internalAdapter.updateUser(userId, { twoFactorEnabled: false });
	const where = [{ field: 'userId', value: userId }];
	return (await adapter.deleteMany({ model: 'twoFactor', where })) > 0;
}

const TABLE = 'sign_in_second_factors';
const SECRET_CONTEXT = 'second factor';
const CODES_CONTEXT = 'recovery codes';

const RECOVERY_CODES = 10;
/** Without characters that look alike, and without capitals. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const HALF = 5;

function recoveryCode(): string {
	const code = Array.from({ length: 2 * HALF }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
	return `${code.slice(0, HALF)}-${code.slice(HALF)}`;
}

/** Takes capitals, blanks, a missing hyphen and the digits of every script. */
export function readTypedCode(typed: string): string {
	const code = plainText(typed)
		.toLowerCase()
		.replace(/[^a-z0-9]/g, '');
	return code.length === 2 * HALF ? `${code.slice(0, HALF)}-${code.slice(HALF)}` : code;
}

/** The second factor of better-auth (TOTP, RFC 6238), with our names and sealing. */
async function secondFactor(secrets: Secrets, key: string) {
	const [{ twoFactor }, { symmetricDecrypt, symmetricEncrypt }] = await Promise.all([
		import('better-auth/plugins/two-factor'),
		import('better-auth/crypto')
	]);
	const plugin = twoFactor({
		// web/sign-in/ limits the attempts of each source and account, so that strangers lock nobody out.
		accountLockout: { enabled: false },
		backupCodeOptions: {
			customBackupCodesGenerate: () => Array.from({ length: RECOVERY_CODES }, recoveryCode),
			storeBackupCodes: {
				encrypt: async (codes) => secrets.encrypt(codes, CODES_CONTEXT),
				decrypt: async (sealed) => secrets.decrypt(sealed, CODES_CONTEXT)
			}
		},
		schema: {
			user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
			twoFactor: {
				modelName: TABLE,
				fields: {
					backupCodes: 'backup_codes_sealed',
					userId: 'user_id',
					failedVerificationCount: 'failed_verification_count',
					lockedUntil: 'locked_until'
				}
			}
		}
	});
	// better-auth encrypts the secret with `key`, which a new AIRTILL_SECRET replaces, and has no option for another way.
	const sealing = {
		id: 'sealed-second-factor',
		schema: {
			twoFactor: {
				modelName: TABLE,
				fields: {
					secret: {
						type: 'string',
						returned: false,
						fieldName: 'secret_sealed',
						transform: {
							input: async (data) =>
								secrets.encrypt(await symmetricDecrypt({ key, data: String(data) }), SECRET_CONTEXT),
							output: (sealed) =>
								symmetricEncrypt({ key, data: secrets.decrypt(String(sealed), SECRET_CONTEXT) })
						}
					}
				}
			}
		}
	} as const satisfies BetterAuthPlugin;
	return [plugin, sealing] as const;
}

const PASSWORD_BYTES = 9;

export const deriveDemoPassword = (secrets: Secrets, email: string): string =>
	(secrets.derive(`demo-password:${email}`, PASSWORD_BYTES).toString('hex').match(/.{6}/g) ?? []).join('-');

/** Creates the demo user if `email` and `password` are a demo account's and its derived password. */
export async function ensureDemoUser(
	state: SignIn,
	{ email, password }: { email: string; password: string }
): Promise<void> {
	const { config, demoEmails, secrets } = state;
	const demo = demoEmails.find((known) => known === normaliseEmail(email));
	if (demo === undefined || !config.demo || !equalSecrets(password, deriveDemoPassword(secrets, demo)))
		return;
	if (!(await findAccountByEmail(state, demo))) return;
	const tables = await openTables(state);
	const { internalAdapter, password: passwords } = tables;
	const { id } = await ensureUser(tables, demo);
	const kept = (await internalAdapter.findCredentialAccount(id))?.password;
	if (kept && (await passwords.verify({ hash: kept, password }))) return;
	const hash = await passwords.hash(password);
	if (kept) await internalAdapter.updatePassword(id, hash);
	else {
		const credential = { userId: id, accountId: id, providerId: 'credential', password: hash };
		await internalAdapter.createAccount(credential);
	}
	await connectAccount(state, tables, id);
}
