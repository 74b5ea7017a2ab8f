/**
 * `npm run demo:gateway`: a device goes from "no internet" through a purchase to "internet" to "no internet" when its
 * time is over, on one machine: a router with the real openNDS and this installation on it, a phone behind it, and the
 * internet. Needs Linux, root and Debian's packages. The least time that is sold is 15 minutes, so the clock of the
 * server is moved close to the end of the bought time, for which openNDS asks at the next sign-in. The exit code is 0 only
 * when each step was seen from the device.
 */
import process from 'node:process';
import { SetupError, ensureBuilt, ensureInstalled, root } from '../../src/cli/bootstrap.js';
import { gatewaysNeed, installMissing } from '../support/programs.js';
import { until, type Device } from '../support/lab/network-lab.ts';
import { PROBE, startHotspotLab, type HotspotLab } from '../support/lab/hotspot-lab.ts';

/** Left of the time at the second sign-in. */
const LAST_MS = 40_000;

const say = (what: string) => console.log(what);
const seen = (what: string) => console.log(`    the phone sees: ${what}`);

async function expectOnline(phone: Device, wanted: boolean): Promise<void> {
	await until(wanted ? 'the phone is online' : 'the phone is offline', async () => {
		return (await phone.isOnline()) === wanted;
	});
	const { status, location, body } = await phone.get(PROBE);
	seen(wanted ? `internet ("${body}")` : `no internet (${status} to ${location.replace(/\?.*/, '?...')})`);
}

async function show(hotspot: HotspotLab): Promise<void> {
	const { server, gateway, lab, sql } = hotspot;
	say(
		`1. A router with openNDS, as "gateways config ${gateway.name}" prints it, and this server at ${server.url}.`
	);
	const phone = await lab.join('02:00:00:00:00:50');
	say(`2. A phone joins the Wi-Fi and looks for the internet at ${PROBE}.`);
	await expectOnline(phone, false);

	say('3. Its browser opens the portal, and 30 minutes are bought.');
	const buyer = await hotspot.open(phone);
	await buyer.buy();
	seen((await buyer.page.getByRole('heading', { level: 1 }).innerText()).replaceAll('\n', ' '));
	say('4. openNDS has let it in.');
	await expectOnline(phone, true);

	const [session] = await sql.all("select * from sessions where status = 'active'");
	const leftMs = Number(session?.['expires_at']) - server.now() - LAST_MS;
	say(`5. The power fails, and the clock of the server is moved by ${Math.floor(leftMs / 1000)} s.`);
	await lab.killOpennds();
	await lab.restartFirewall();
	await lab.startOpennds();
	await server.advance(leftMs);
	await expectOnline(phone, false);
	say('6. The buyer enters the code. openNDS lets the phone in for the rest of the time.');
	await buyer.returns();
	await expectOnline(phone, true);
	say('7. The time ends.');
	await expectOnline(phone, false);
	await buyer.page.reload();
	seen(await buyer.page.getByRole('heading', { level: 1 }).innerText());
	await buyer.close();
	say('No internet, a purchase, internet, and none when the time was over.');
}

try {
	await ensureInstalled({ withDev: true });
	process.chdir(root);
	// Before half a minute of building.
	installMissing('gateways');
	const missing = gatewaysNeed();
	if (missing !== null) throw new SetupError(missing);
	await ensureBuilt();
	const hotspot = await startHotspotLab();
	try {
		await show(hotspot);
	} finally {
		await hotspot.stop();
	}
	process.exit(0);
} catch (error) {
	console.error(error instanceof SetupError ? error.message : error);
	process.exit(1);
}
