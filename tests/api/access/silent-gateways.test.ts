/**
 * Many gateways that accept every call and answer none do not delay a buyer at another one. The measurement:
 * AIRTILL_SILENT_GATEWAYS=500 AIRTILL_PURCHASES=100 npm test -- api silent-gateways
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import process from 'node:process';
import { afterAll, expect, it } from 'vitest';
import { scheduleComparison } from '#lib/server/access/admissions.ts';
import { createApp } from '#lib/server/app.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import { NO_SETTINGS, createGateway } from '#lib/server/gateways/settings.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { numberEnding } from '../../support/api/api.ts';
import { connectRouterOs, ROUTER_OS_ROUTER } from '../../support/gateways/consoles.ts';
import { SECRET, eventually, useFixture } from '../../support/server/fixture.ts';

const SILENT_ROUTER = 5;
/** More than are called at a time once they are known to be silent. */
const COUNT = Number(process.env['AIRTILL_SILENT_GATEWAYS'] ?? 60);
const PURCHASES = Number(process.env['AIRTILL_PURCHASES'] ?? 5);
/** A call that hangs takes 10 s. */
const WITHOUT_WAITING_MS = 9_000;
/** Above this many, the machine is busy with the gateways alone. */
const MEASURED = 100;

const fixture = useFixture({ env: { AIRTILL_SECRET: SECRET } });
const servers: Server[] = [];
let held = 0;
afterAll(() => servers.forEach((server) => server.close()));

async function startSilent(): Promise<string> {
	const server = createServer((socket) => {
		held += 1;
		socket.on('error', () => {}).on('close', () => (held -= 1));
		socket.resume();
		socket.unref();
	});
	servers.push(server);
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function buy(routerId: number): Promise<number> {
	const { api } = fixture();
	const session = await api.createSession({ router_id: routerId, phone: numberEnding('008') });
	const startedAt = performance.now();
	await api.pay(session);
	await eventually('it is active', async () => (await api.getSession(session.id)).status === 'active');
	return performance.now() - startedAt;
}

async function measurePurchases(): Promise<{ median: number; p95: number; most: number }> {
	const times: number[] = [];
	for (let count = 0; count < PURCHASES; count += 1) times.push(await buy(ROUTER_OS_ROUTER));
	times.sort((a, b) => a - b);
	const at = (share: number) => Math.round(times[Math.ceil(times.length * share) - 1] ?? 0);
	return { median: at(0.5), p95: at(0.95), most: at(1) };
}

it(`${COUNT} silent gateways delay no buyer at another one`, async () => {
	const { server } = fixture();
	const hotspot = await connectRouterOs(fixture());
	// With no gateway its time starts at once; each gateway that comes later wants it.
	await buy(SILENT_ROUTER);
	await buy(ROUTER_OS_ROUTER);
	const calm = await measurePurchases();
	const env = { DATABASE_URL: server.databaseUrl, DATA_DIR: server.dataDir, AIRTILL_SECRET: SECRET };
	const app = await createApp(loadConfig({ ...env, AIRTILL_LOG_LEVEL: 'silent' }), {
		log: createLog('silent')
	});
	const ids: number[] = [];
	for (let number = 1; number <= COUNT; number += 1) {
		const input = {
			...{ ...NO_SETTINGS, name: `silent-${number}`, routerId: SILENT_ROUTER, kind: 'mikrotik' },
			...{ loginHosts: ['10.5.50.1'], control: 'rest', api: await startSilent() },
			...{ apiUser: 'airtill', apiKey: 'obviously-fake', apiInsecure: true }
		};
		ids.push((await createGateway(app.gateways, input, () => Promise.resolve())).id);
	}
	await app.database.transact(async (trx) => {
		for (const id of ids) await scheduleComparison(app, trx, id);
	});
	await eventually('calls hang', async () => held >= Math.min(COUNT, 50));
	const beside = await measurePurchases();
	expect(held).toBeGreaterThan(0);
	console.log(JSON.stringify({ silent: COUNT, purchases: PURCHASES, calm, beside }));
	if (COUNT >= MEASURED) expect(beside.p95).toBeLessThan(1.5 * calm.p95);
	else expect(beside.most).toBeLessThan(WITHOUT_WAITING_MS);
	await app.stop();
	await hotspot.stop();
}, 600_000);
