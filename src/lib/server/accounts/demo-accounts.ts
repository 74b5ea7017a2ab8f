import type { Accounts } from './accounts.ts';

/** People who sign in to a sandbox's demo data. */
export const DEMO_OWNER_EMAIL = 'owner@airtill.example';

export const DEMO_ACCOUNTS = [
	{ email: DEMO_OWNER_EMAIL, role: 'owner' },
	{ email: 'app@airtill.example', role: 'app' },
	{ email: 'admin@airtill.example', role: 'admin' }
] as const;

export const DEMO_EMAILS: readonly string[] = DEMO_ACCOUNTS.map(({ email }) => email);

export const hasDemoAccounts = async ({ findByEmail }: Pick<Accounts, 'findByEmail'>): Promise<boolean> =>
	(await Promise.all(DEMO_EMAILS.map(findByEmail))).some((account) => account !== null);
