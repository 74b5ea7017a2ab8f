import type { BetterAuthOptions, User } from 'better-auth';
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '#lib/developer/password-rule.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { PENDING, secondFactor } from './second-factor.ts';

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

export async function createAuth(options: AuthOptions) {
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
		// `passwordState` tells a sign-in from a password link. Its cookie is signed.
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
export type Tables = Awaited<Auth['$context']>;
