import type { BetterAuthPlugin } from 'better-auth';
import { sealedTable } from '#lib/server/db/sealed/sealed-table.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';

const TABLE = 'sign_in_second_factors';
const SECRET_CONTEXT = 'second factor';
const CODES_CONTEXT = 'recovery codes';
/** Begins the identifier of a sign-in that waits for its second factor. */
export const PENDING = '2fa-';

export const SEALED_SECOND_FACTORS = sealedTable(TABLE, ['id'], {
	secret_sealed: () => SECRET_CONTEXT,
	backup_codes_sealed: () => CODES_CONTEXT
});

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
