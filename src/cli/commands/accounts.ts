import { z } from 'zod';
import { MAX_EMAIL_CHARACTERS } from '#lib/domain/email.ts';
import type { App } from '#lib/server/app.ts';
import { PLANS, ROLES, type Account } from '#lib/server/developer/accounts/accounts.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { UsageError, defineCommand, oneOf, required } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { accountOf, COMMAND_LINE } from '../support/services.ts';

const emailAddress = z.email().max(MAX_EMAIL_CHARACTERS);

export const createAccount = defineCommand({
	name: 'accounts create',
	parameters: '--email EMAIL --role app|owner|admin [--plan default|enterprise]',
	summary: 'Create an account and print it as JSON, with the invitation of an owner.',
	help: [
		'For the roles owner and admin, "invitation" is a link to choose the password. It works once, for a day. It gives',
		'access to the account, so send it over a safe channel. "accounts invite" prints another one.',
		'',
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
		const app = await open();
		const account = await app.accounts.create({ email, role, plan }, COMMAND_LINE);
		if (!account) throw new CommandError(`The e-mail address ${email} is taken by another account.`);
		const invitation = role === 'app' ? {} : { invitation: await invitationOf(app, account) };
		await print(JSON.stringify({ ...account, created_at: isoTime(account.created_at), ...invitation }));
	}
});

export const inviteAccount = defineCommand({
	name: 'accounts invite',
	parameters: '--email EMAIL',
	summary: 'Print a link to choose the password of an account.',
	help: [
		'The link works once, for a day. It gives access to the account, so send it over a safe channel. Owners get to',
		'/owner, other roles to /developer.',
		'',
		'  --email EMAIL   the account'
	].join('\n'),
	options: { email: { type: 'string' } },
	async run({ values, open }) {
		const email = required(values.email, '--email');
		const app = await open();
		await print(await invitationOf(app, await accountOf(app.accounts, email)));
	}
});

function invitationOf({ config, signIn }: App, account: Account): Promise<string> {
	return signIn.invite(account, config.origin ?? `http://localhost:${config.port}`);
}
