import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '#lib/domain/password-rule.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';

/**
 * better-auth as this installation uses it: e-mail and password, passkeys and sessions on our own database. A
 * password is only ever set through a mailed link, so whoever has one has shown that the address is theirs:
 * nobody can put a password on an address of another person and wait for that person to confirm it.
 */
export interface AuthOptions {
	database: Database;
	log: Log;
	/** At least 32 characters. */
	secret: string;
	/** Public address of the pages, without a slash at the end. */
	origin: string;
	linkSeconds: number;
	/** Hands over the token of a link that lets its reader choose a password. */
	deliver(link: { email: string; token: string }): Promise<void>;
	/** The holder of a link has set a password. */
	onPasswordSet(userId: string): Promise<void>;
}

const DAY_SECONDS = 24 * 60 * 60;
const SESSION_SECONDS = 14 * DAY_SECONDS;
/** How old "last active" may be, and how often a session that is used is prolonged. */
const SEEN_EVERY_SECONDS = 5 * 60;
/** A passkey may be added this long after a sign-in. */
const FRESH_SECONDS = 60 * 60;

/** Loads better-auth; nothing of it is in memory before. */
export async function createAuth(options: AuthOptions) {
	const [{ betterAuth }, { passkey }] = await Promise.all([
		import('better-auth'),
		import('@better-auth/passkey')
	]);
	const { database, log, secret, origin, linkSeconds } = options;
	const times = { createdAt: 'created_at', updatedAt: 'updated_at' };
	return betterAuth({
		appName: 'Airtill',
		baseURL: origin,
		basePath: '/developer',
		secret,
		trustedOrigins: [origin],
		// No transactions: a password is hashed inside them, and SQLite would let nobody else write meanwhile.
		database: { db: database.db, type: database.kind, transaction: false },
		// What it says is for its own developers; the details it adds may hold addresses or tokens.
		logger: { level: 'error', log: (_level, message) => log.error({ part: 'sign-in' }, message) },
		telemetry: { enabled: false },
		// Its limiter does not see calls from our own forms: http/sign-in.ts limits all of them.
		rateLimit: { enabled: false },
		advanced: {
			cookiePrefix: 'airtill',
			useSecureCookies: origin.startsWith('https:'),
			ipAddress: { disableIpTracking: true },
			// The tables are made by our own migrations, which the tests hold against both databases.
			database: { validateSchema: false }
		},
		user: {
			modelName: 'sign_in_users',
			fields: { emailVerified: 'email_verified', ...times },
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
				...times
			},
			expiresIn: SESSION_SECONDS,
			updateAge: SEEN_EVERY_SECONDS,
			freshAge: FRESH_SECONDS
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
				...times
			}
		},
		verification: {
			modelName: 'sign_in_verifications',
			fields: { expiresAt: 'expires_at', ...times },
			storeIdentifier: 'hashed'
		},
		emailAndPassword: {
			enabled: true,
			disableSignUp: true,
			requireEmailVerification: true,
			minPasswordLength: MIN_PASSWORD_CHARACTERS,
			maxPasswordLength: MAX_PASSWORD_CHARACTERS,
			revokeSessionsOnPasswordReset: true,
			resetPasswordTokenExpiresIn: linkSeconds,
			sendResetPassword: ({ user, token }) => options.deliver({ email: user.email, token }),
			onPasswordReset: ({ user }) => options.onPasswordSet(user.id)
		},
		plugins: [
			passkey({
				rpID: new URL(origin).hostname,
				rpName: 'Airtill',
				origin,
				// A passkey stands for e-mail and password together: it is found without typing and asks for a PIN,
				// a finger or a face.
				authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
				authentication: {
					afterVerification({ verification }) {
						if (!verification.authenticationInfo.userVerified) {
							throw new Error('The passkey was used without a check of its user');
						}
					}
				},
				advanced: { webAuthnChallengeCookie: 'passkey_challenge' },
				schema: {
					passkey: {
						modelName: 'sign_in_passkeys',
						fields: {
							userId: 'user_id',
							publicKey: 'public_key',
							credentialID: 'credential_id',
							deviceType: 'device_type',
							backedUp: 'backed_up',
							createdAt: 'created_at'
						}
					}
				}
			})
		]
	});
}

export type Auth = Awaited<ReturnType<typeof createAuth>>;
