import type { Migration } from '../migrate.ts';

/**
 * The second factor of better-auth, in its types (authentication/second-factor.ts). It replaces passkeys; the previous release
 * still reads `sign_in_passkeys`.
 */
export const secondFactors: Migration = {
	name: '0059-second-factors',
	statements({ sqlite, int, end }) {
		const flag = sqlite ? 'integer' : 'boolean';
		return [
			`alter table sign_in_users add column two_factor_enabled ${flag}`,
			`create table sign_in_second_factors (
				id text primary key,
				user_id text not null unique references sign_in_users (id) on delete cascade,
				secret_sealed text not null,
				backup_codes_sealed text not null,
				verified ${flag} not null,
				failed_verification_count ${int},
				locked_until ${sqlite ? 'text' : 'timestamptz'}
			${end}`
		];
	}
};
