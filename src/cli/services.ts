import { parseId } from '#lib/domain/text.ts';
import {
	type Account,
	hasRole,
	findAccountByEmail,
	listAccountsWithRole
} from '#lib/server/accounts/accounts.ts';
import { type App, createApp } from '#lib/server/app.ts';
import type { Config, DatabaseConfig } from '#lib/server/config/config.ts';
import { demoAccounts } from '#lib/server/demo/accounts.ts';
import { type RegisteredGateway, findGatewayByName } from '#lib/server/gateways/gateways.ts';
import { messageOf, refuse } from '#lib/server/platform/errors.ts';
import { findById } from '#lib/server/db/queries.ts';
import { schemaOfUrl } from '#lib/server/db/postgres.ts';
import { createLog } from '#lib/server/platform/log.ts';
import type { RouterRow } from '#lib/server/routers/routers.ts';
import { isExpected, refuseUsage } from './terminal.ts';

/** Actor in the audit log. */
export const COMMAND_LINE = 'command line';
/** For commands without --by and --note. */
export const AUTHOR = { by: COMMAND_LINE, note: '' };

/** Starts no jobs. The caller stops the services. */
export async function openApp(config: Config): Promise<App> {
	try {
		return await createApp(config, { log: createLog('silent') });
	} catch (error) {
		if (!isExpected(error)) throw error;
		throw refuse(`The database (${databaseName(config)}) cannot be used: ${messageOf(error)}`, {
			cause: error
		});
	}
}

/** Omits user and password. */
export function databaseName({ databaseUrl }: DatabaseConfig): string {
	if (databaseUrl.startsWith('file:')) return databaseUrl;
	if (!URL.canParse(databaseUrl)) return 'PostgreSQL';
	const { protocol, host, pathname } = new URL(databaseUrl);
	const schema = schemaOfUrl(databaseUrl);
	return `${protocol}//${host}${pathname}${schema ? ` (${schema})` : ''}`;
}

export const findRouter = (app: App, id: number): Promise<RouterRow | undefined> =>
	findById(app.database.db, 'routers', id);

/** @throws Refused on a portal of a remote API, which has no routers of its own */
export function localService(app: App): App {
	const { remoteApi } = app.config;
	if (remoteApi === null) return app;
	throw refuse(`The routers are those of ${remoteApi.url}: set this where that service runs.`);
}

/** @param name the argument or option that holds the id. @throws Refused */
export async function ownRouter(app: App, text: string, name = 'ID'): Promise<RouterRow> {
	const id = parseId(text);
	if (id === null) throw refuseUsage(`${name} is the id of a router; see /admin/routers.`);
	localService(app);
	const router = await findRouter(app, id);
	if (!router) throw refuse(`${name}: there is no router ${text}; see /admin/routers.`);
	return router;
}

export async function knownGateway(app: App, name: string): Promise<RegisteredGateway> {
	const gateway = await findGatewayByName(app.gateways, name);
	if (!gateway) throw refuse(`There is no gateway "${name}"; see "gateways list".`);
	return gateway;
}

export async function accountOf(app: App, email: string): Promise<Account> {
	const account = await findAccountByEmail(app, email);
	if (!account) throw refuse(`There is no account ${email}; create it with "accounts create".`);
	return account;
}

const MAX_OWNERS_NAMED = 10;

/** Returns the account that new routers belong to: the given one, or the only owner. @throws Refused */
export async function ownerOf(app: App, email: string | undefined): Promise<Account> {
	if (email === undefined) return onlyOwner(app);
	const account = await accountOf(app, email);
	if (!hasRole(account.role, 'owner')) {
		throw refuse(`${account.email} has the role ${account.role}; owner or admin is needed.`);
	}
	return account;
}

async function onlyOwner(app: App): Promise<Account> {
	const owners = () => listAccountsWithRole(app, 'owner', MAX_OWNERS_NAMED);
	const found = await owners();
	// A new sandbox gets its demo accounts here, not at its first start.
	if (found.length === 0 && app.config.demo) await demoAccounts(app);
	const [owner, ...others] = found.length === 0 ? await owners() : found;
	if (!owner) {
		throw refuse(
			'There is no owner account for these routers. Make one with "accounts create --email EMAIL --role owner", ' +
				'or start Airtill once (a new sandbox makes one), or name an admin with --owner EMAIL.'
		);
	}
	if (others.length === 0) return owner;
	const emails = [owner, ...others].map((account) => account.email).join(', ');
	throw refuse(`There are several owner accounts; choose one with --owner EMAIL: ${emails}.`);
}
