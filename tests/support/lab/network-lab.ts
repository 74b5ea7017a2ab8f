/**
 * A network on one machine: a router (with the real openNDS, dnsmasq and Airtill on it), devices on its Wi-Fi, and the
 * internet behind it, each in a namespace of its own. Every name leads to the one server that the internet is.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync, chmodSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { request, type Asked } from './ask.ts';
import { connect, startMachine, type Machine } from './namespaces.ts';

export const ROUTER_ADDRESS = '192.168.77.1';
export const INTERNET_ADDRESS = '203.0.113.80';
export const LAN = 'br-lan';
/** Longer than openNDS takes for anything: it looks every 15 s whose time has ended. */
const limitMs = 110_000;
const lookAgainMs = 100;
/** A start takes seven seconds, and on a busy machine three times that. */
const START_MS = 60_000;
const STARTS = 3;
const LOG_SHOWN = 4_000;
/** The pause of procd is five seconds. */
const RESPAWN_MS = 1000;

export interface Device {
	mac: string;
	machine: Machine;
	/** Address that the router's DHCP gave it. */
	ip: string;
	/** One request, redirects not followed. */
	get(url: string): Promise<Asked>;
	/** Whether the internet itself answers. */
	isOnline(): Promise<boolean>;
	/** Path of a Chromium that runs on it. */
	browser: string;
}

export interface NetworkLab {
	router: Machine;
	internet: Machine;
	/** A folder of this lab, removed with it. */
	folder: string;
	/** Environment of programs on the router. */
	env: Record<string, string>;
	/** A device joins the Wi-Fi. */
	join(mac: string): Promise<Device>;
	/** Puts a file of its configuration on the router, where it belongs. */
	install(file: string, text: string): void;
	/**
	 * Starts openNDS as it is configured; answers when it runs. If it crashes by itself later, it is started again, as
	 * OpenWrt's procd does: the HTTP thread of openNDS 9.10 can crash just after `ndsctl` has disconnected a device.
	 */
	startOpennds(): Promise<void>;
	/** Ends it as the system does. */
	stopOpennds(): Promise<void>;
	/** It crashes and is not started again. */
	killOpennds(): Promise<void>;
	/** The router's firewall starts anew: what openNDS had set there is gone. */
	restartFirewall(): Promise<void>;
	/** The power of the router fails for a moment: openNDS knows nobody afterwards. */
	restartRouter(): Promise<void>;
	/** Looks until the portal comes; openNDS can have crashed and start again. @throws with its clients and what it said */
	untilPortal<T>(look: () => Promise<T | false>): Promise<T>;
	/** Runs the guard that belongs to the configuration. */
	startGuard(): Promise<void>;
	/** Its output. */
	openndsLog(): string;
	ndsctl(...args: string[]): Promise<string>;
	/** One request from the router itself. */
	request(url: string): Promise<Asked>;
	stop(): Promise<void>;
}

/** The answer of every host on the internet. */
export const INTERNET_SAYS = 'This is the internet.';

export async function startNetworkLab(chromium: string): Promise<NetworkLab> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-site-'));
	const bin = path.join(folder, 'bin');
	const etc = path.join(folder, 'opennds');
	const lib = path.join(folder, 'lib');
	cpSync('/usr/lib/opennds', lib, { recursive: true });
	mkdirSync(bin);
	mkdirSync(path.join(etc, 'htdocs'), { recursive: true });
	writeFileSync(path.join(etc, 'htdocs/splash.css'), '');
	// openNDS 9 does not work with the iptables of nftables.
	for (const name of ['iptables', 'ip6tables'])
		symlinkSync('/usr/sbin/xtables-legacy-multi', path.join(bin, name));
	const env = {
		PATH: `${bin}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
		HOME: process.env['HOME'] ?? '/root'
	};

	const machines: Machine[] = [];
	const machine = async () => {
		const made = await startMachine();
		machines.push(made);
		return made;
	};
	const stop = async () => {
		for (const made of machines.reverse()) await made.stop();
		rmSync(folder, { recursive: true, force: true });
	};
	try {
		const [router, internet] = [await machine(), await machine()];
		await setUpRouter(router, { etc, lib });
		await setUpInternet(router, internet);
		await startDhcp(router, folder, env);
		return {
			...openndsOf(router, { etc, lib }, env),
			request: (url) => request(router, url),
			router,
			internet,
			folder,
			env,
			stop,
			join
		};

		async function join(mac: string): Promise<Device> {
			const own = await machine();
			return joinDevice(own, { router, folder, mac, chromium, port: `lan${machines.length}` });
		}
	} catch (error) {
		await stop();
		throw error;
	}
}

async function setUpRouter(router: Machine, { etc, lib }: Folders): Promise<void> {
	for (const dir of ['/run', '/var/lib/misc']) await router.run('mount', '-t', 'tmpfs', 'tmpfs', dir);
	await router.run('mount', '--bind', etc, '/etc/opennds');
	await router.run('mount', '--bind', lib, '/usr/lib/opennds');
	await router.run('ip', 'link', 'add', LAN, 'type', 'bridge');
	await router.run('ip', 'addr', 'add', `${ROUTER_ADDRESS}/24`, 'dev', LAN);
	await router.run('ip', 'link', 'set', LAN, 'up');
	// Its radio: a bridge without any port is down.
	await router.run('ip', 'link', 'add', 'radio', 'type', 'veth', 'peer', 'name', 'air');
	for (const end of ['radio', 'air']) await router.run('ip', 'link', 'set', end, 'up');
	await router.run('ip', 'link', 'set', 'radio', 'master', LAN);
	await router.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
}

async function setUpInternet(router: Machine, internet: Machine): Promise<void> {
	await connect([router, 'wan'], [internet, 'eth0']);
	await router.run('ip', 'addr', 'add', '203.0.113.1/24', 'dev', 'wan');
	await router.run('ip', 'route', 'add', 'default', 'via', INTERNET_ADDRESS);
	await internet.run('ip', 'addr', 'add', `${INTERNET_ADDRESS}/24`, 'dev', 'eth0');
	await internet.run('ip', 'route', 'add', 'default', 'via', '203.0.113.1');
	const script = `require('node:http').createServer((_, to) => to.end(${JSON.stringify(INTERNET_SAYS)})).listen(80)`;
	internet.start(process.execPath, ['--eval', script], { stdio: 'ignore' });
	await until('the internet answers', async () => {
		const { body } = await request(internet, `http://${INTERNET_ADDRESS}/`);
		return body === INTERNET_SAYS;
	});
}

async function startDhcp(router: Machine, folder: string, env: Record<string, string>): Promise<void> {
	const file = path.join(folder, 'dnsmasq.conf');
	const lines = [
		`interface=${LAN}`,
		'bind-interfaces',
		'no-resolv',
		'no-hosts',
		'user=root',
		'pid-file=',
		'dhcp-authoritative',
		'dhcp-range=192.168.77.50,192.168.77.99,1h',
		'dhcp-leasefile=/var/lib/misc/dnsmasq.leases',
		`address=/#/${INTERNET_ADDRESS}`
	];
	writeFileSync(file, `${lines.join('\n')}\n`);
	router.start('dnsmasq', ['--keep-in-foreground', `--conf-file=${file}`], { stdio: 'ignore', env });
}

/** The script that dhclient runs for a lease. */
const LEASE_SCRIPT = `#!/bin/sh
case "$reason" in
PREINIT) ip link set "$interface" up ;;
BOUND | RENEW | REBIND | REBOOT)
	ip addr replace "$new_ip_address/24" dev "$interface"
	ip route replace default via "$new_routers"
	echo "nameserver $new_domain_name_servers" >/etc/resolv.conf
	;;
esac
`;

async function joinDevice(
	machine: Machine,
	at: { router: Machine; folder: string; mac: string; chromium: string; port: string }
): Promise<Device> {
	const { router, mac } = at;
	const folder = path.join(at.folder, at.port);
	mkdirSync(folder);
	const executable = (name: string, text: string) => {
		const file = path.join(folder, name);
		writeFileSync(file, text);
		chmodSync(file, 0o755);
		return file;
	};
	const resolv = executable('resolv.conf', '');
	await machine.run('mount', '--bind', resolv, '/etc/resolv.conf');
	await connect([router, at.port], [machine, 'wlan0']);
	await router.run('ip', 'link', 'set', at.port, 'master', LAN);
	await machine.run('ip', 'link', 'set', 'wlan0', 'down');
	await machine.run('ip', 'link', 'set', 'wlan0', 'address', mac);
	await machine.run(
		...(['dhclient', '-4', '-1', '-sf', executable('lease', LEASE_SCRIPT)] as const),
		...['-lf', path.join(folder, 'leases'), '-pf', path.join(folder, 'dhclient.pid'), 'wlan0']
	);
	const ip = /inet ([\d.]+)/.exec(await machine.run('ip', '-4', 'addr', 'show', 'dev', 'wlan0'))?.[1] ?? '';
	const get = (url: string) => request(machine, url);
	return {
		mac,
		machine,
		ip,
		get,
		isOnline: async () => (await get(`http://${INTERNET_ADDRESS}/`)).body === INTERNET_SAYS,
		browser: executable('chromium', `#!/bin/sh\nexec ${machine.inside.join(' ')} '${at.chromium}' "$@"\n`)
	};
}

interface Folders {
	/** /etc/opennds */
	etc: string;
	/** /usr/lib/opennds */
	lib: string;
}

function openndsOf(router: Machine, { etc, lib }: Folders, env: Record<string, string>) {
	let log = '';
	/** The process that must run. */
	let child: ChildProcess | null = null;
	const iptables = (...args: string[]) => router.run('env', `PATH=${env['PATH'] ?? ''}`, 'iptables', ...args);
	const hasEnded = (one: ChildProcess) => one.exitCode !== null || one.signalCode !== null;
	async function end(ask: (running: ChildProcess) => unknown) {
		const running = child;
		child = null;
		if (running === null) return;
		await ask(running);
		await until('openNDS has ended', async () => hasEnded(running));
	}
	/** A start that fails or hangs is tried again. The rules of a crashed one can prevent it: they go. */
	async function startOpennds(): Promise<void> {
		for (let attempt = 1; ; attempt += 1) {
			const started = router.start('opennds', ['-f'], { env });
			child = started;
			const from = log.length;
			for (const stream of [started.stdout, started.stderr]) {
				stream?.setEncoding('utf8').on('data', (text: string) => (log += text));
			}
			try {
				await until('openNDS runs', () => runs(started, from), START_MS);
				if (hasEnded(started)) void respawn(started);
				else started.once('exit', () => void respawn(started));
				return;
			} catch (error) {
				log += `${String(error)}\n`;
				started.kill('SIGKILL');
				if (attempt === STARTS) throw error;
				await restartFirewall();
			}
		}
	}
	async function runs(started: ChildProcess, from: number): Promise<boolean> {
		if (child !== started) return true;
		if (hasEnded(started)) throw new Error(`openNDS ended (${started.exitCode}):\n${log.slice(from)}`);
		return log.includes('openNDS is now running', from);
	}
	/** As procd does. */
	async function respawn(crashed: ChildProcess): Promise<void> {
		const isOver = () => child !== crashed || !router.isRunning();
		if (isOver()) return;
		log += `openNDS crashed (${crashed.signalCode ?? crashed.exitCode})\n`;
		await sleep(RESPAWN_MS);
		if (!isOver()) await startOpennds().catch((error: unknown) => (log += `${String(error)}\n`));
	}
	const killOpennds = () => end((running) => running.kill('SIGKILL'));
	async function restartRouter() {
		await killOpennds();
		await restartFirewall();
		await startOpennds();
	}
	const ndsctl = async (...args: string[]) => (await router.try('ndsctl', ...args)).output;
	// A device that is online does not get the portal either.
	const untilPortal = <T>(look: () => Promise<T | false>): Promise<T> =>
		until('the portal comes', look).catch(async (error: unknown) => {
			const list = await ndsctl('json');
			const clients = list.match(/"(mac|state)":\s*"[^"]*"/g)?.join(' ') ?? list;
			const said = `Clients of openNDS: ${clients}. It said:\n${log.slice(-LOG_SHOWN)}`;
			throw new Error(`${String(error)}. ${said}`, { cause: error });
		});
	async function restartFirewall() {
		for (const table of ['filter', 'nat', 'mangle']) {
			await iptables('-t', table, '-F');
			await iptables('-t', table, '-X');
		}
	}
	return {
		startOpennds,
		openndsLog: () => log,
		ndsctl,
		install(file: string, text: string) {
			const places = { '/etc/opennds/': etc, '/usr/lib/opennds/': lib };
			const folder = Object.entries(places).find(([at]) => file.startsWith(at))?.[1];
			if (folder === undefined) throw new Error(`${file} has no place on the router of the test`);
			writeFileSync(path.join(folder, path.basename(file)), text, { mode: 0o700 });
		},
		stopOpennds: () => end(() => router.try('ndsctl', 'stop')),
		killOpennds,
		restartFirewall,
		restartRouter,
		untilPortal,
		async startGuard() {
			await router.run('env', `PATH=${env['PATH'] ?? ''}`, 'sh', '/etc/opennds/airtill-guard.sh');
		}
	};
}

/** Asks again until it is so. @returns what was found */
export async function until<T>(what: string, look: () => Promise<T | false>, ms = limitMs): Promise<T> {
	const deadline = performance.now() + ms;
	for (;;) {
		const found = await look();
		if (found !== false) return found;
		if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}`);
		await sleep(lookAgainMs);
	}
}
