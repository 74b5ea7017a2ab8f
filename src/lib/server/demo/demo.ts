import { changeAccess } from '../access-kinds.ts';
import { MAX_DURATION } from '#lib/domain/time.ts';
import { DEMO_OWNER_EMAIL, findAccountByEmail } from '../accounts/accounts.ts';
import type { App } from '../app.ts';
import { TEST_NUMBERS } from '../billing/operators/sandbox.ts';
import type { Config } from '../config/config.ts';
import { importRouters, readRouters } from '../routers/import.ts';
import { findRouters } from '../routers/routers.ts';
import { demoAccounts } from './accounts.ts';
import demoRouters from './routers.csv?raw';
import { replaceOffers } from '../offers.ts';
import { addDemoSales } from './sales.ts';

type DemoSignIn = Awaited<ReturnType<typeof demoAccounts>>[number];

/** Passwords by external id. */
const NETWORK_PASSWORDS = new Map([
	['demo-16', 'Tailors & Friends'],
	['demo-17', 'rubaga-guests']
]);

/** Sells the offers. The other routers sell by the hour only. */
const ROUTER_WITH_OFFERS = 'demo-19';

/** In UGX. */
const OFFERS = [
	{ name: '30 minutes', duration: '30m', price: 200 },
	{ name: '1 hour', duration: '1h', price: 500 },
	{ name: 'Day', duration: '1d', price: 1000, max_devices: 3 },
	{ name: 'Week', duration: '1w', price: 5000 }
].map((offer) => ({ ...offer, active: true }));

const MAX_DEMO_ROUTERS = 100;

const loaded = new WeakMap<App, DemoSignIn[]>();

/** The keys with which the API page calls endpoints, and those of router owners. Null without demo data. */
export function findDemoKeys(app: App): { app: string; owner: string } | null {
	const keyOf = (wanted: string) => loaded.get(app)?.find(({ role }) => role === wanted)?.key;
	const [appKey, owner] = [keyOf('app'), keyOf('owner')];
	return appKey !== undefined && owner !== undefined ? { app: appKey, owner } : null;
}

/** Only for a sandbox without routers. Returns an empty list without demo data. */
export async function loadDemo(app: App): Promise<DemoSignIn[]> {
	if (!app.config.demo) return [];
	const hasRouters = (await findRouters(app.database, {}, 0, 1)).length > 0;
	if (hasRouters && !(await findAccountByEmail(app, DEMO_OWNER_EMAIL))) return [];
	const signIns = await demoAccounts(app);
	loaded.set(app, signIns);
	const owner = signIns.find(({ role }) => role === 'owner');
	const buyer = signIns.find(({ role }) => role === 'app');
	if (owner && buyer && !hasRouters) {
		await addDemoRouters(app, owner.id);
		const routers = await findRouters(app.database, {}, 0, MAX_DEMO_ROUTERS);
		const isBest = (one: { external_id: string | null }) => Number(one.external_id === ROUTER_WITH_OFFERS);
		routers.sort((one, other) => isBest(other) - isBest(one));
		if (app.config.demoSales) await addDemoSales(app, buyer.id, routers);
	}
	return signIns;
}

/** Two processes may run this at once. */
async function addDemoRouters(app: App, ownerAccountId: number): Promise<void> {
	await importDemoRouters(app, ownerAccountId);
	const { config, database, offers } = app;
	for (const { id, external_id } of await findRouters(database, {}, 0, MAX_DEMO_ROUTERS)) {
		const networkPassword = NETWORK_PASSWORDS.get(external_id ?? '');
		if (networkPassword) await changeAccess(app, id, { networkPassword }, { by: 'demo', note: '' });
		if (external_id === ROUTER_WITH_OFFERS && config.currency === 'UGX') {
			const owner = { accountId: ownerAccountId, role: 'owner', keyId: null } as const;
			await replaceOffers(offers, owner, id, { hourly: true, offers: OFFERS });
		}
	}
}

async function importDemoRouters(app: App, ownerAccountId: number): Promise<void> {
	const { currency } = app.config;
	const settings = {
		columns: null,
		// UGX has no decimals: every currency takes these prices as its minor units.
		currency: 'UGX',
		maxPrice: Infinity,
		priceMinor: null
	};
	const read = await readRouters([Buffer.from(demoRouters)], settings, () => {});
	// Developers try every duration of the API here.
	const all = { currency, max_duration: MAX_DURATION };
	const routers = read.routers.map((router) => ({ ...router, stated: { ...router.stated, ...all } }));
	await importRouters(app, ownerAccountId, routers);
}

export function printWelcome(config: Config, signIns: readonly DemoSignIn[], hasStreets: boolean): void {
	const address = config.origin ?? `http://localhost:${config.port}`;
	const lines = [`Airtill is ready: ${address}`];
	if (config.mode === 'sandbox') {
		lines.push('', 'Test mode: no real money moves.');
		if (signIns.length > 0) {
			lines.push('', 'Demo sign-ins (API keys of this sandbox):');
			for (const { email, role, key } of signIns)
				lines.push(`  ${email.padEnd(22)} ${role.padEnd(6)} ${key}`);
			lines.push('', `Developer area, with keys and webhooks: ${address}/developer`);
			lines.push(`Administration: ${address}/admin`);
			for (const { email, password } of signIns) lines.push(`  ${email.padEnd(22)} password ${password}`);
		}
		// They have no effect at a real operator.
		if (config.operators.length === 0) {
			lines.push('', 'Test numbers: any valid mobile number; its last three digits decide.');
			for (const { digits, description } of TEST_NUMBERS) lines.push(`  ${digits.padEnd(6)} ${description}`);
		}
	}
	if (!hasStreets) lines.push('', 'Streets for the map: npm run airtill -- basemap extract LON,LAT,LON,LAT');
	process.stdout.write(`${lines.join('\n')}\n`);
}
