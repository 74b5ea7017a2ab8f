import { z } from 'zod';
import { MAX_EMAIL_CHARACTERS } from '#lib/domain/email.ts';
import { PLANS, ROLES } from '#lib/server/developer/accounts/accounts.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { UsageError, oneOf, parseCommand, positionals, required, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { withConfiguredApp } from '../support/services.ts';

const email = z.email().max(MAX_EMAIL_CHARACTERS);

export const createAccount: Command = {
	name: 'accounts create',
	parameters: '--email EMAIL --role app|owner|admin [--plan default|enterprise]',
	summary: 'Create an account and print it as JSON.',
	help: [
		'  --email EMAIL   names the account; upper and lower case are the same',
		'  --role ROLE     app: buys for its users; owner: has routers; admin: runs the installation',
		'  --plan PLAN     default or enterprise (higher limits); default: default'
	].join('\n'),
	async run(args, context) {
		const parsed = parseCommand(args, {
			email: { type: 'string' },
			role: { type: 'string' },
			plan: { type: 'string', default: 'default' }
		});
		positionals(parsed.positionals, []);
		const address = email.safeParse(required(parsed.values.email, '--email'));
		if (!address.success) throw new UsageError(`--email is not an e-mail address: "${parsed.values.email}".`);
		const role = oneOf(required(parsed.values.role, '--role'), ROLES, '--role');
		const plan = oneOf(parsed.values.plan, PLANS, '--plan');

		const account = await withConfiguredApp(context, (app) =>
			app.accounts.create({ email: address.data, role, plan })
		);
		if (!account) throw new CommandError(`The e-mail address ${address.data} is taken by another account.`);
		await print(JSON.stringify({ ...account, created_at: isoTime(account.created_at) }));
		return 0;
	}
};

export const inviteAccount: Command = {
	name: 'accounts invite',
	parameters: '--email EMAIL',
	summary: 'Print a link to set the password of an account for /developer.',
	help: [
		'For installations without a mail server. The link works once, for a day. It gives access to the account, so send',
		'it over a safe channel.',
		'',
		'  --email EMAIL   the account'
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, { email: { type: 'string' } });
		positionals(words, []);
		const address = required(values.email, '--email');
		return withConfiguredApp(context, async (app) => {
			const account = await app.accounts.findByEmail(address);
			if (!account) throw new CommandError(`There is no account ${address}; make it with "accounts create".`);
			const origin = app.config.origin ?? `http://localhost:${app.config.port}`;
			await print(await app.signIn.invite(account, origin));
			return 0;
		});
	}
};
