import { z } from 'zod';
import { MAX_EMAIL_CHARACTERS } from '#lib/domain/email.ts';
import { PLANS, ROLES } from '#lib/server/developer/accounts/accounts.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { UsageError, defineCommand, oneOf, required } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { accountOf, COMMAND_LINE } from '../support/services.ts';

const emailAddress = z.email().max(MAX_EMAIL_CHARACTERS);

export const createAccount = defineCommand({
	name: 'accounts create',
	parameters: '--email EMAIL --role app|owner|admin [--plan default|enterprise]',
	summary: 'Create an account and print it as JSON.',
	help: [
		'  --email EMAIL   names the account; upper and lower case are the same',
		'  --role ROLE     app: buys for its users; owner: has routers; admin: runs the installation',
		'  --plan PLAN     default or enterprise (higher limits); default: default'
	].join('\n'),
	options: { email: { type: 'string' }, role: { type: 'string' }, plan: { type: 'string' } },
	async run({ values, open }) {
		const email = emailAddress.safeParse(required(values.email, '--email')).data;
		if (!email) throw new UsageError(`--email is not an e-mail address: "${values.email}".`);
		const role = oneOf(required(values.role, '--role'), ROLES, '--role');
		const plan = oneOf(values.plan ?? 'default', PLANS, '--plan');
		const account = await (await open()).accounts.create({ email, role, plan }, COMMAND_LINE);
		if (!account) throw new CommandError(`The e-mail address ${email} is taken by another account.`);
		await print(JSON.stringify({ ...account, created_at: isoTime(account.created_at) }));
	}
});

export const inviteAccount = defineCommand({
	name: 'accounts invite',
	parameters: '--email EMAIL',
	summary: 'Print a link to set the password of an account for /developer.',
	help: [
		'For installations without a mail server. The link works once, for a day. It gives access to the account, so send',
		'it over a safe channel.',
		'',
		'  --email EMAIL   the account'
	].join('\n'),
	options: { email: { type: 'string' } },
	async run({ values, open }) {
		const email = required(values.email, '--email');
		const app = await open();
		const origin = app.config.origin ?? `http://localhost:${app.config.port}`;
		await print(await app.signIn.invite(await accountOf(app.accounts, email), origin));
	}
});
