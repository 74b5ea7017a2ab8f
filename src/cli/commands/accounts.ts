import { isEmail } from '#lib/domain/email.ts';
import type { App } from '#lib/server/app.ts';
import { RATE_PLANS, ROLES } from '#lib/server/accounts/accounts.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { UsageError, defineCommand, oneOf, required } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { print } from '../support/output.ts';
import { accountOf, COMMAND_LINE } from '../support/services.ts';

const AUTHOR = { by: COMMAND_LINE, note: '' };

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
		const email = required(values.email, '--email');
		if (!isEmail(email)) throw new UsageError(`--email is not an email address: "${values.email}".`);
		const role = oneOf(required(values.role, '--role'), ROLES, '--role');
		const plan = oneOf(values.plan ?? 'default', RATE_PLANS, '--plan');
		const app = await open();
		const created = await app.signIn.createAccount({ email, role, plan }, AUTHOR, originOf(app));
		if (!created) throw new CommandError(`The email address ${email} is taken by another account.`);
		const { account, invitation } = created;
		const { id, email: stored, status, created_at: at } = account;
		const link = invitation === null ? {} : { invitation };
		await print(JSON.stringify({ id, email: stored, role, plan, status, created_at: isoTime(at), ...link }));
	}
});

export const inviteAccount = defineCommand({
	name: 'accounts invite',
	parameters: '--email EMAIL',
	summary: 'Print a link to choose the password of an account.',
	help: [
		'The link works once, for a day. It gives access to the account, so send it over a safe channel. Owners get to',
		'/owner, administrators to /admin, apps to /developer.',
		'',
		'  --email EMAIL   the account'
	].join('\n'),
	options: { email: { type: 'string' } },
	async run({ values, open }) {
		const email = required(values.email, '--email');
		const app = await open();
		await print(await app.signIn.invite(await accountOf(app.accounts, email), AUTHOR, originOf(app)));
	}
});

export const removeSecondFactor = defineCommand({
	name: 'accounts remove-second-factor',
	parameters: '--email EMAIL',
	summary: 'Remove the second factor of an account, for a person whose phone is lost.',
	help: [
		'The password alone signs in then. Make sure that it is the person who asks.',
		'',
		'  --email EMAIL   the account'
	].join('\n'),
	options: { email: { type: 'string' } },
	async run({ values, open }) {
		const email = required(values.email, '--email');
		const app = await open();
		const account = await accountOf(app.accounts, email);
		const isRemoved = await app.signIn.removeSecondFactor(account, AUTHOR, originOf(app));
		if (!isRemoved) throw new CommandError(`The account ${email} has no second factor.`);
		console.error(`The second factor of ${email} is removed.`);
	}
});

const originOf = ({ config }: App): string => config.origin ?? `http://localhost:${config.port}`;
