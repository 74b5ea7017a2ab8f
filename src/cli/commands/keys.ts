import { ROLES } from '#lib/server/accounts/accounts.ts';
import { hasRole } from '#lib/server/developer/api-keys/api-keys.ts';
import { keyMode } from '#lib/server/developer/api-keys/key-format.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { UsageError, defineCommand, oneOf, required } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { plain, print, tableLine } from '../support/output.ts';
import { accountOf, COMMAND_LINE } from '../support/services.ts';

const DEFAULT_NAME = 'command line';
const MAX_NAME_CHARACTERS = 100;

export const createKey = defineCommand({
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
	options: { account: { type: 'string' }, name: { type: 'string' }, role: { type: 'string' } },
	async run({ values, open }) {
		const email = required(values.account, '--account');
		const name = required(values.name ?? DEFAULT_NAME, '--name');
		if (name.length > MAX_NAME_CHARACTERS) {
			throw new UsageError(`--name is longer than ${MAX_NAME_CHARACTERS} characters.`);
		}
		const wanted = values.role === undefined ? null : oneOf(values.role, ROLES, '--role');

		const { accounts, apiKeys } = await open();
		const account = await accountOf(accounts, email);
		const role = wanted ?? account.role;
		if (role === 'staff' || !hasRole(account.role, role)) {
			throw new CommandError(`${account.email} has the role ${account.role}; its keys cannot have ${role}.`);
		}
		await print(await apiKeys.create({ accountId: account.id, name, role, actor: COMMAND_LINE }));
		console.error(`Key "${plain(name)}" of ${account.email} (${role}). It is not shown again.`);
	}
});

const keyLine = tableLine(5, 14, 5, 24, 24, 7);

export const listKeys = defineCommand({
	name: 'keys list',
	parameters: '--account EMAIL',
	summary: 'List the keys of an account; only their last characters are shown.',
	help: "  --account EMAIL  the keys' account",
	options: { account: { type: 'string' } },
	async run({ values, open }) {
		const email = required(values.account, '--account');
		const { accounts, apiKeys } = await open();
		const keys = await apiKeys.list((await accountOf(accounts, email)).id);
		await print(keyLine('ID', 'KEY', 'ROLE', 'CREATED', 'LAST USED', 'STATE', 'NAME'));
		for (const key of keys) {
			const used = isoTime(key.last_used_at) ?? 'never';
			const state = apiKeys.stateOf(key);
			await print(
				keyLine(String(key.id), key.hint, key.role, isoTime(key.created_at), used, state, key.name)
			);
		}
	}
});

export const revokeKey = defineCommand({
	name: 'keys revoke',
	parameters: 'KEY_OR_ID',
	summary: 'Revoke a key, by its text or by its id (see "keys list").',
	help: 'A running server may accept a revoked key for five more seconds.',
	options: {},
	async run({ argument, open }) {
		// Does not repeat the text, which may be a mistyped key.
		if (!keyMode(argument) && !/^\d+$/.test(argument)) {
			throw new CommandError('This is neither a complete API key nor the id of one.');
		}
		const revoked = await (await open()).apiKeys.revoke(argument, COMMAND_LINE);
		if (!revoked) throw new CommandError('There is no active key with this text or id.');
		console.error('The key is revoked.');
	}
});
