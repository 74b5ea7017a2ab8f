import type { BetterAuthPlugin } from 'better-auth';
import { randomInt } from 'node:crypto';
import type { Secrets } from '#lib/server/platform/secrets.ts';

const TABLE = 'sign_in_second_factors';
const SECRET_CONTEXT = 'second factor';
const CODES_CONTEXT = 'recovery codes';
/** Begins the identifier of a sign-in that waits for its second factor. */
export const PENDING = '2fa-';

const RECOVERY_CODES = 10;
/** Without characters that look alike, and without capitals. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const HALF = 5;

function recoveryCode(): string {
	const code = Array.from({ length: 2 * HALF }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
	return `${code.slice(0, HALF)}-${code.slice(HALF)}`;
}

/** Takes capitals, blanks, a missing hyphen and Arabic digits. */
export function readTypedCode(typed: string): string {
	const code = typed
		.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
		.toLowerCase()
		.replace(/[^a-z0-9]/g, '');
	return code.length === 2 * HALF ? `${code.slice(0, HALF)}-${code.slice(HALF)}` : code;
}

/** The second factor of better-auth (TOTP, RFC 6238), with our names and sealing. */
export async function secondFactor(secrets: Secrets, key: string) {
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
