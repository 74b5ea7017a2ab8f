import type { App } from '../app.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { OWN_PREFIX } from '../developer/api-keys/api-keys.ts';

export const DEMO_OWNER_EMAIL = 'owner@airtill.example';

const DEMO_ACCOUNTS = [
	{ email: DEMO_OWNER_EMAIL, role: 'owner' },
	{ email: 'app@airtill.example', role: 'app' },
	{ email: 'admin@airtill.example', role: 'admin' }
] as const;

export const DEMO_EMAILS: readonly string[] = DEMO_ACCOUNTS.map(({ email }) => email);

export const hasDemoAccounts = async ({ findByEmail }: Pick<Accounts, 'findByEmail'>): Promise<boolean> =>
	(await Promise.all(DEMO_EMAILS.map(findByEmail))).some((account) => account !== null);

/** Returns the sign-ins, which are derived from the sandbox's secret. */
export async function demoAccounts(app: App) {
	const signIns = [];
	for (const { email, role } of DEMO_ACCOUNTS) {
		const { id: accountId } = await app.accounts.ensure({ email, role, plan: 'default' });
		const name = `${OWN_PREFIX}demo ${role}`;
		const key = await app.apiKeys.ensureDerived({ accountId, name, role });
		signIns.push({ id: accountId, email, role, key, password: app.signIn.demoPassword(email) });
	}
	return signIns;
}
