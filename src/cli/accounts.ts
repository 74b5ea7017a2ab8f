import { isEmail } from '#lib/domain/email.ts';
import { type Account, RATE_PLANS, ROLES, hasRole } from '#lib/server/accounts/accounts.ts';
import type { App } from '#lib/server/app.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { defineCommand } from './command.ts';
import { accountOf, AUTHOR, COMMAND_LINE } from './services.ts';
import { plain, print, refuseUsage } from './terminal.ts';
import { createKey } from '#lib/server/developer/api-keys.ts';
import {
	createInvitedAccount,
	inviteAccount,
	removeSecondFactor
} from '../lib/server/authentication/links.ts';
import { refuse } from '#lib/server/platform/errors.ts';

const MAX_NAME_CHARACTERS = 100;

const OF_ACCOUNT = { email: { value: 'EMAIL', help: 'the account', isNeeded: true } } as const;

const originOf = ({ config }: App): string => config.origin ?? `http://localhost:${config.port}`;

export const accountCommands = [
	defineCommand({
		name: 'accounts create',
		summary: 'Create an account and print it as JSON, with the invitation of an owner.',
		help: 'For the roles owner and admin, "invitation" is a link to choose the password. It works once, for a day. It gives access to the account, so send it over a safe channel. "accounts invite" prints another one.',
		options: {
			email: { value: 'EMAIL', help: 'names the account; upper and lower case are the same', isNeeded: true },
			role: {
				words: ROLES,
				help: 'app: buys for its users; owner: has routers; admin: runs the installation',
				isNeeded: true
			},
			plan: { words: RATE_PLANS, help: 'enterprise has higher limits; default: default' }
		},
		async run({ values: { email, role, plan = 'default' }, open }) {
			if (!isEmail(email)) throw refuseUsage(`--email is not an email address: "${email}".`);
			const app = await open();
			const created = await createInvitedAccount(app.signIn, { email, role, plan }, AUTHOR, originOf(app));
			if (!created) throw refuse(`The email address ${email} is taken by another account.`);
			const { account, invitation } = created;
			const { id, email: stored, status, created_at: at } = account;
			const link = invitation === null ? {} : { invitation };
			await print(
				JSON.stringify({ id, email: stored, role, plan, status, created_at: isoTime(at), ...link })
			);
		}
	}),
	defineCommand({
		name: 'accounts invite',
		summary: 'Print a link to choose the password of an account.',
		help: 'The link works once, for a day. It gives access to the account, so send it over a safe channel. Owners get to /owner, administrators to /admin, apps to /developer.',
		options: OF_ACCOUNT,
		async run({ values: { email }, open }) {
			const app = await open();
			await print(await inviteAccount(app.signIn, await accountOf(app, email), AUTHOR, originOf(app)));
		}
	}),
	defineCommand({
		name: 'accounts remove-second-factor',
		summary: 'Remove the second factor of an account, for a person whose phone is lost.',
		help: 'The password alone signs in then. Make sure that it is the person who asks.',
		options: OF_ACCOUNT,
		async run({ values: { email }, open }) {
			const app = await open();
			const account = await accountOf(app, email);
			const isRemoved = await removeSecondFactor(app.signIn, account, AUTHOR);
			if (!isRemoved) throw refuse(`The account ${email} has no second factor.`);
			console.error(`The second factor of ${email} is removed.`);
		}
	}),
	defineCommand({
		name: 'keys create',
		summary: 'Create an API key and print it once.',
		help: 'Standard output contains only the key, ready for a variable or a file. /developer/keys lists and revokes the keys of an account.',
		options: {
			account: { value: 'EMAIL', help: "the key's account", isNeeded: true },
			name: { value: 'NAME', help: `its purpose; default: ${COMMAND_LINE}` },
			role: {
				words: ROLES,
				help: "a role below the account's, or the same; default: the account's role"
			}
		},
		async run({ values, open }) {
			const name = (values.name ?? COMMAND_LINE).trim();
			if (name === '') throw refuseUsage('--name is missing.');
			if (name.length > MAX_NAME_CHARACTERS) {
				throw refuseUsage(`--name is longer than ${MAX_NAME_CHARACTERS} characters.`);
			}
			const app = await open();
			const { id, email, role: own } = await accountOf(app, values.account);
			const role: Account['role'] = values.role ?? own;
			if (role === 'staff' || !hasRole(own, role)) {
				throw refuse(`${email} has the role ${own}; its keys cannot have ${role}.`);
			}
			await print(await createKey(app.apiKeys, { accountId: id, name, role, actor: COMMAND_LINE }));
			console.error(`Key "${plain(name)}" of ${email} (${role}). It is not shown again.`);
		}
	})
];
