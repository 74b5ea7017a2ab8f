import { MAX_DURATION, MIN_DURATION } from '#lib/domain/duration.ts';
import type { App } from '../app.ts';
import { TEST_NUMBERS } from '../billing/operators/sandbox/scenarios.ts';
import { OWN_PREFIX } from '../developer/api-keys/api-keys.ts';
import { countRouters, insertRouter } from '../routers/routers.ts';
import { DEMO_ACCOUNTS, DEMO_OWNER, type DemoAccount } from './accounts.ts';
import { DEMO_ROUTERS } from './routers.ts';

/** A demo account with its sign-in data, printed when the sandbox starts. */

export interface DemoSignIn extends DemoAccount {
	/** Test key, derived from the sandbox's secret, so that it is the same after each start. */
	key: string;
	/** Password of the developer area, derived in the same way. */
	password: string;
}

/** Adds demo accounts and routers to a sandbox without routers. Returns the demo sign-ins; empty without demo data. */
export async function loadDemo(app: App): Promise<DemoSignIn[]> {
	if (!app.config.demo) return [];
	const existing = await app.accounts.findByEmail(DEMO_OWNER.email);
	if (!existing && (await countRouters(app.database.db)) > 0) return [];
	const signIns = await demoAccounts(app);
	await insertDemoRouters(app);
	return signIns;
}

/** Creates the missing demo accounts. */
export async function demoAccounts(app: App): Promise<DemoSignIn[]> {
	const signIns: DemoSignIn[] = [];
	for (const { email, role } of DEMO_ACCOUNTS) {
		const account =
			(await app.accounts.findByEmail(email)) ??
			(await app.accounts.create({ email, role, plan: 'default' })) ??
			// Another process created it meanwhile.
			(await app.accounts.findByEmail(email));
		if (!account) continue;
		const key = await app.apiKeys.ensureDerived({
			accountId: account.id,
			name: `${OWN_PREFIX}demo ${role}`,
			role
		});
		signIns.push({ email, role, key, password: app.signIn.demoPassword(email) });
	}
	return signIns;
}

async function insertDemoRouters(app: App): Promise<void> {
	const owner = await app.accounts.findByEmail(DEMO_OWNER.email);
	if (!owner) return;
	await app.database.transact(async (trx) => {
		if ((await countRouters(trx)) > 0) return;
		const now = app.clock.now();
		for (const [index, router] of DEMO_ROUTERS.entries()) {
			const id = await insertRouter(trx, {
				owner_account_id: owner.id,
				external_id: `demo-${index + 1}`,
				name: router.name,
				address: router.address,
				ssid: router.ssid,
				security: router.security ?? 'wpa',
				lat: router.lat,
				lon: router.lon,
				price_minor: router.priceMinor,
				currency: app.config.currency,
				status: router.status ?? 'online',
				payment_methods: JSON.stringify(router.methods ?? app.config.paymentMethods),
				min_duration: MIN_DURATION,
				max_duration: MAX_DURATION,
				created_at: now,
				updated_at: now
			});
			const { accessKind: kind, networkPassword = null } = router;
			if (kind) await app.routers.setAccess(trx, id, { kind, networkPassword, maxDevices: 1 });
		}
	});
}

/** Prints the addresses and demo sign-ins to standard output. */
export function printWelcome(app: App, signIns: readonly DemoSignIn[]): void {
	const { config } = app;
	const address = config.origin ?? `http://localhost:${config.port}`;
	const lines = [`Airtill is ready: ${address}`];
	if (config.mode === 'sandbox') {
		lines.push('', 'Test mode: no real money moves.');
		if (signIns.length > 0) {
			lines.push('', 'Demo sign-ins (API keys of this sandbox):');
			for (const { email, role, key } of signIns)
				lines.push(`  ${email.padEnd(22)} ${role.padEnd(6)} ${key}`);
			lines.push('', `Developer area, with keys and test payments: ${address}/developer`);
			for (const { email, password } of signIns) lines.push(`  ${email.padEnd(22)} password ${password}`);
		}
		lines.push('', 'Test numbers: any valid mobile number; its last three digits decide.');
		for (const { digits, description } of TEST_NUMBERS) lines.push(`  ${digits.padEnd(6)} ${description}`);
	}
	process.stdout.write(`${lines.join('\n')}\n`);
}
