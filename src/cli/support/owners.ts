import type { App } from '#lib/server/app.ts';
import { demoAccounts } from '#lib/server/demo/accounts.ts';
import type { Account } from '#lib/server/accounts/accounts.ts';
import { hasRole } from '#lib/server/developer/api-keys/api-keys.ts';
import { CommandError } from './errors.ts';
import { accountOf } from './services.ts';

const MAX_OWNERS_NAMED = 10;

/** Returns the account that new routers belong to: the given one, or the only owner. @throws CommandError */
export async function ownerOf(app: App, email: string | undefined): Promise<Account> {
	if (email === undefined) return onlyOwner(app);
	const account = await accountOf(app.accounts, email);
	if (!hasRole(account.role, 'owner')) {
		throw new CommandError(`${account.email} has the role ${account.role}; owner or admin is needed.`);
	}
	return account;
}

async function onlyOwner(app: App): Promise<Account> {
	const owners = () => app.accounts.withRole('owner', MAX_OWNERS_NAMED);
	const found = await owners();
	// A new sandbox gets its demo accounts here, not at its first start.
	if (found.length === 0 && app.config.demo) await demoAccounts(app);
	const [owner, ...others] = found.length === 0 ? await owners() : found;
	if (!owner) {
		throw new CommandError(
			'There is no owner account for these routers. Make one with "accounts create --email EMAIL --role owner", ' +
				'or start Airtill once (a new sandbox makes one), or name an admin with --owner EMAIL.'
		);
	}
	if (others.length === 0) return owner;
	const emails = [owner, ...others].map((account) => account.email).join(', ');
	throw new CommandError(`There are several owner accounts; choose one with --owner EMAIL: ${emails}.`);
}
