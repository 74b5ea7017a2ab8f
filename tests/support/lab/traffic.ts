/** Traffic between devices of a network lab and the internet, measured where it arrives. */
import process from 'node:process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from './namespaces.ts';
import { INTERNET_ADDRESS, type Device, type NetworkLab } from './network-lab.ts';

const PORT = 81;
const MEASURED_MS = 4_000;
/** The connection starts, and fills what a rate limit lets through at once. */
const SETTLES_MS = 1_500;
/** Devices of a Wi-Fi send packets of this size at most; without it they would be up to 64 KB here. */
const WIRE_SIZE = ['gso_max_segs', '1'];

/** A device asks for a number of bytes, or sends without end after a 0. */
const SOURCE = `require('node:net').createServer((s) => {
	s.on('error', () => {}).once('data', (asked) => {
		let left = Number(asked.toString().split(' ')[0]);
		if (left === 0) return s.resume();
		const send = () => {
			while (left > 0 && s.writable) {
				const part = Buffer.alloc(Math.min(left, 65536));
				left -= part.length;
				if (!s.write(part)) return;
			}
			s.end();
		};
		s.on('drain', send);
		send();
	});
}).listen(${PORT})`;

const sink = (bytes: number) => `const s = require('node:net').connect(${PORT}, '${INTERNET_ADDRESS}');
	s.on('error', () => process.exit(1)).on('close', () => process.exit(0)).on('connect', () => {
		s.write('${bytes} ');
		if (${bytes} > 0) return s.resume();
		const part = Buffer.alloc(65536);
		const send = () => { while (s.write(part)); };
		s.on('drain', send);
		send();
	})`;

export interface Traffic {
	/** Downloads that many bytes. */
	download(device: Device, bytes: number): Promise<void>;
	/** Speed of one connection in kbit/s. */
	speed(device: Device, direction: 'down' | 'up'): Promise<number>;
}

export async function startTraffic({ internet }: NetworkLab, devices: readonly Device[]): Promise<Traffic> {
	await internet.run('ip', 'link', 'set', 'dev', 'eth0', ...WIRE_SIZE);
	for (const { machine } of devices) await machine.run('ip', 'link', 'set', 'dev', 'wlan0', ...WIRE_SIZE);
	internet.start(process.execPath, ['--eval', SOURCE], { stdio: 'ignore' });
	const start = ({ machine }: Device, bytes: number) =>
		machine.start(process.execPath, ['--eval', sink(bytes)], { stdio: 'ignore' });
	return {
		async download(device, bytes) {
			await once(start(device, bytes), 'close');
		},
		async speed(device, direction) {
			const isDown = direction === 'down';
			const received = () => (isDown ? bytesAt(device.machine, 'wlan0') : bytesAt(internet, 'eth0'));
			const connection = start(device, isDown ? Number.MAX_SAFE_INTEGER : 0);
			// A refused one ends before it is measured.
			const closed = once(connection, 'close');
			try {
				await sleep(SETTLES_MS);
				const [before, from] = [await received(), performance.now()];
				await sleep(MEASURED_MS);
				const bytes = (await received()) - before;
				return (bytes * 8) / (performance.now() - from);
			} finally {
				connection.kill('SIGKILL');
				await closed;
			}
		}
	};
}

/** Counts what arrived at a network interface. */
async function bytesAt(machine: Machine, name: string): Promise<number> {
	const [, bytes] = new RegExp(`${name}: *(\\d+)`).exec(await machine.run('cat', '/proc/net/dev')) ?? [];
	return Number(bytes);
}
