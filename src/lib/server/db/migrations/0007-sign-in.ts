import type { Migration } from '../migrate.ts';

/**
 * The tables of better-auth under our names (authentication/auth.ts) and in its types: instants are ISO text on SQLite and
 * timestamptz on PostgreSQL, flags 0/1 and boolean. A user refers to its account by id: a changed email address
 * never leads to another account.
 */
export const signIn: Migration = {
	name: '0007-sign-in',
	statements({ sqlite, int, end }) {
		const instant = sqlite ? 'text' : 'timestamptz';
		const flag = sqlite ? 'integer' : 'boolean';
		return [
			`create table sign_in_users (
				id text primary key,
				name text not null,
				email text not null unique,
				email_verified ${flag} not null,
				image text,
				account_id ${int} unique references accounts (id),
				created_at ${instant} not null,
				updated_at ${instant} not null
			${end}`,
			`create table sign_in_sessions (
				id text primary key,
				user_id text not null references sign_in_users (id) on delete cascade,
				token text not null unique,
				expires_at ${instant} not null,
				ip_address text,
				user_agent text,
				created_at ${instant} not null,
				updated_at ${instant} not null
			${end}`,
			`create index sign_in_sessions_user on sign_in_sessions (user_id)`,
			`create table sign_in_passwords (
				id text primary key,
				user_id text not null references sign_in_users (id) on delete cascade,
				account_id text not null,
				provider_id text not null,
				access_token text,
				refresh_token text,
				id_token text,
				access_token_expires_at ${instant},
				refresh_token_expires_at ${instant},
				scope text,
				password text,
				created_at ${instant} not null,
				updated_at ${instant} not null
			${end}`,
			`create index sign_in_passwords_user on sign_in_passwords (user_id)`,
			`create table sign_in_verifications (
				id text primary key,
				identifier text not null,
				value text not null,
				expires_at ${instant} not null,
				created_at ${instant} not null,
				updated_at ${instant} not null
			${end}`,
			`create index sign_in_verifications_identifier on sign_in_verifications (identifier)`,
			`create table sign_in_passkeys (
				id text primary key,
				user_id text not null references sign_in_users (id) on delete cascade,
				name text,
				public_key text not null,
				credential_id text not null unique,
				counter ${int} not null,
				device_type text not null,
				backed_up ${flag} not null,
				transports text,
				aaguid text,
				created_at ${instant}
			${end}`,
			`create index sign_in_passkeys_user on sign_in_passkeys (user_id)`,
			// A form creates one key, however often a browser sends it.
			`alter table api_keys add column form_token text`,
			`create unique index api_keys_form on api_keys (account_id, form_token)`,
			// A person's decision about a test payment, which overrides the outcome of its number.
			`create table sandbox_instructions (
				charge_reference text primary key references sandbox_charges (reference),
				outcome text not null,
				instructed_at ${int} not null
			${end}`
		];
	}
};
