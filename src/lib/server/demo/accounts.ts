import { DEMO_ACCOUNTS, ensureAccount } from '../accounts/accounts.ts';
import type { App } from '../app.ts';
import { OWN_PREFIX, ensureDerivedKey } from '../developer/api-keys.ts';
import { deriveDemoPassword } from '../authentication/sign-in.ts';

/** Returns the sign-ins, which are derived from the sandbox's secret. */
export async function demoAccounts(app: App) {
	const signIns = [];
	for (const { email, role } of DEMO_ACCOUNTS) {
		const { id: accountId } = await ensureAccount(app, { email, role, plan: 'default' });
		const name = `${OWN_PREFIX}demo ${role}`;
		const key = await ensureDerivedKey(app.apiKeys, { accountId, name, role });
		signIns.push({ id: accountId, email, role, key, password: deriveDemoPassword(app.secrets, email) });
	}
	return signIns;
}
