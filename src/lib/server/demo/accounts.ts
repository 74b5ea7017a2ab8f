/** The accounts of a sandbox's demo data. */
export interface DemoAccount {
	email: string;
	role: 'owner' | 'app' | 'admin';
}

export const DEMO_OWNER: DemoAccount = { email: 'owner@airtill.example', role: 'owner' };

export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
	DEMO_OWNER,
	{ email: 'app@airtill.example', role: 'app' },
	{ email: 'admin@airtill.example', role: 'admin' }
];

export const DEMO_EMAILS: readonly string[] = DEMO_ACCOUNTS.map(({ email }) => email);
