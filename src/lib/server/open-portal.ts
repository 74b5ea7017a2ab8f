import { opensRunningPasses } from './passes.ts';
import type { Base } from './base.ts';
import { refuseSettings } from './config/config.ts';
import { hasDemoAccounts, findAccountByEmail, ensureAccount } from './accounts/accounts.ts';
import { type ApiKeys, PORTAL_KEY, ensureDerivedKey, listKeys } from './developer/api-keys.ts';
import type { Gateways } from './gateways/gateways.ts';

const PORTAL_ACCOUNT = { email: 'portal@airtill.invalid', role: 'app', plan: 'portal' } as const;

interface PortalContext extends Base {
	apiKeys: ApiKeys;
	gateways: Gateways;
}

/**
 * Checks that the database suits the settings.
 * @returns the portal's API key; null with a remote API, whose key is a setting
 * @throws Refused
 */
export async function openPortal(context: PortalContext): Promise<string | null> {
	const { config, apiKeys, gateways } = context;
	if (config.mode === 'live') await refuseDemoData(context, apiKeys);
	if (config.remoteApi) {
		await refuseGateways(gateways);
		return null;
	}
	await refuseOtherSecret(context);
	return portalKey(context, apiKeys);
}

/** With another secret, buyers whose time runs lose their passwords, and gateways their keys. */
async function refuseOtherSecret({ config, clock, database: { db }, secrets }: PortalContext): Promise<void> {
	if (config.secretFallback !== null || (await opensRunningPasses(db, secrets, clock.now()))) return;
	throw refuseSettings([
		'AIRTILL_SECRET: does not open the Wi-Fi passwords of buyers whose time runs. Put back the secret (in a ' +
			'sandbox, the DATA_DIR) with which they were stored. If it is lost, set AIRTILL_SECRET_FALLBACK to any other ' +
			'text of that length until their time has ended: they get no access.'
	]);
}

/** Captive sessions and the sign-in of API buyers need the passes of this process. */
async function refuseGateways(gateways: Gateways): Promise<void> {
	const { length } = await Array.fromAsync(gateways.list());
	if (length === 0) return;
	throw refuseSettings([
		`AIRTILL_API_URL: a portal of a remote API cannot serve gateways, and ${length} of them are registered here. ` +
			'Remove them ("gateways remove NAME"), or unset AIRTILL_API_URL.'
	]);
}

/**
 * Demo routers would sell for real money, and the sandbox printed the passwords of demo accounts. An installation that
 * has been live before still starts, because it has buyers; `doctor` reports it.
 */
async function refuseDemoData(base: Base, apiKeys: ApiKeys): Promise<void> {
	if (!(await hasDemoAccounts(base))) return;
	const portal = await findAccountByEmail(base, PORTAL_ACCOUNT.email);
	const keys = portal ? await listKeys(apiKeys, portal.id) : [];
	if (keys.some(({ hint }) => hint.startsWith('atl_live_'))) return;
	throw refuseSettings([
		'DATABASE_URL: live mode refuses a database with demo data. Use a new, empty database.'
	]);
}

/** Derives the portal's key from the secret: all processes share it and none stores it. */
async function portalKey(base: Base, apiKeys: ApiKeys): Promise<string> {
	const { id: accountId } = await ensureAccount(base, PORTAL_ACCOUNT);
	return ensureDerivedKey(apiKeys, { accountId, name: PORTAL_KEY, role: 'app' });
}
