import { ROLES, type Account } from '#lib/server/developer/accounts/accounts.ts';
import { MAX_LIVE_KEYS, hasRole } from '#lib/server/developer/api-keys/api-keys.ts';
import { keyMode } from '#lib/server/developer/api-keys/key-format.ts';
import type { App } from '#lib/server/app.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { UsageError, oneOf, parseCommand, positionals, required, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { plain, print } from '../support/output.ts';
import { withConfiguredApp } from '../support/services.ts';

const DEFAULT_NAME = 'command line';
const MAX_NAME_CHARACTERS = 100;

export const createKey: Command = {
	name: 'keys create',
	parameters: '--account EMAIL [--name NAME] [--role app|owner|admin]',
	summary: 'Create an API key and print it once.',
	help: [
		'Standard output contains only the key, ready for a variable or a file.',
		'',
		"  --account EMAIL  the key's account",
		`  --name NAME      its purpose; default: ${DEFAULT_NAME}`,
		"  --role ROLE      a role below the account's, or the same; default: the account's role"
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
			account: { type: 'string' },
			name: { type: 'string', default: DEFAULT_NAME },
			role: { type: 'string' }
		});
		positionals(words, []);
		const email = required(values.account, '--account');
		const name = required(values.name, '--name');
		if (name.length > MAX_NAME_CHARACTERS) {
			throw new UsageError(`--name is longer than ${MAX_NAME_CHARACTERS} characters.`);
		}
		const wanted = values.role === undefined ? null : oneOf(values.role, ROLES, '--role');

		return withConfiguredApp(context, async (app) => {
			const account = await accountOf(app, email);
			const role = wanted ?? account.role;
			if (!hasRole(account.role, role)) {
				throw new CommandError(
					`${account.email} has the role ${account.role}; its keys cannot have ${role}.`
				);
			}
			const live = (await app.apiKeys.list(account.id)).filter(
				(key) => stateOf(key, app.clock.now()) === 'live'
			);
			if (live.length >= MAX_LIVE_KEYS) {
				throw new CommandError(`${account.email} has ${MAX_LIVE_KEYS} live keys; revoke one first.`);
			}
			const key = await app.apiKeys.create({ accountId: account.id, name, role });
			await print(key);
			console.error(`Key "${plain(name)}" of ${account.email} (${role}). It is not shown again.`);
			return 0;
		});
	}
};

export const listKeys: Command = {
	name: 'keys list',
	parameters: '--account EMAIL',
	summary: 'List the keys of an account; only their last characters are shown.',
	help: "  --account EMAIL  the keys' account",
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, { account: { type: 'string' } });
		positionals(words, []);
		const email = required(values.account, '--account');

		return withConfiguredApp(context, async (app) => {
			const keys = await app.apiKeys.list((await accountOf(app, email)).id);
			await print(keyLine(['ID', 'KEY', 'ROLE', 'MADE', 'LAST USED', 'STATE', 'NAME']));
			for (const key of keys) {
				await print(
					keyLine([
						String(key.id),
						key.hint,
						key.role,
						isoTime(key.created_at),
						isoTime(key.last_used_at) ?? 'never',
						stateOf(key, app.clock.now()),
						plain(key.name)
					])
				);
			}
			return 0;
		});
	}
};

export const revokeKey: Command = {
	name: 'keys revoke',
	parameters: 'KEY_OR_ID',
	summary: 'Revoke a key, by its text or by its id (see "keys list").',
	help: 'A running server may accept a revoked key for five more seconds.',
	async run(args, context) {
		const { positionals: words } = parseCommand(args, {});
		const [keyOrId = ''] = positionals(words, ['KEY_OR_ID']);
		// The text is not repeated: it may be a key with a typing error.
		if (!keyMode(keyOrId) && !/^\d+$/.test(keyOrId)) {
			throw new CommandError('This is neither a complete API key nor the id of one.');
		}
		const revoked = await withConfiguredApp(context, (app) => app.apiKeys.revoke(keyOrId));
		if (!revoked) throw new CommandError('There is no live key with this text or id.');
		console.error('The key is revoked.');
		return 0;
	}
};

async function accountOf(app: App, email: string): Promise<Account> {
	const account = await app.accounts.findByEmail(email);
	if (!account) throw new CommandError(`There is no account ${email}; make it with "accounts create".`);
	return account;
}

function stateOf(key: { revoked_at: number | null; expires_at: number | null }, now: number): string {
	if (key.revoked_at !== null) return 'revoked';
	return key.expires_at !== null && key.expires_at <= now ? 'expired' : 'live';
}

const KEY_WIDTHS = [5, 14, 5, 24, 24, 7, 0];

const keyLine = (cells: string[]) =>
	cells.map((text, column) => text.padEnd(KEY_WIDTHS[column] ?? 0)).join('  ');
