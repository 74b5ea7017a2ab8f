import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { coova } from './coova.ts';
import { html, type Answer, type Behaviour, type Connection, type Device, type Gate } from './device.ts';
import { mikrotik } from './mikrotik.ts';
import { opennds } from './opennds.ts';
import { unifi } from './unifi.ts';

/**
 * A gateway with one device behind it, on loopback. Every request to it is one that the device makes without internet:
 * its own pages are the gateway's, everything else is "the internet", which sends the device to the portal until a
 * sign-in was right. The probes of the operating systems are answered as these expect it once the device is online.
 */
export const KINDS = ['opennds', 'mikrotik-pap', 'mikrotik-chap', 'coova', 'unifi'] as const;
export type Kind = (typeof KINDS)[number];

export interface StandInGateway {
	/** `http://127.0.0.1:<port>`: any address below it is the internet. */
	readonly url: string;
	/** `127.0.0.1:<port>`: its login host. */
	readonly host: string;
	/** The device is online. */
	readonly isOnline: boolean;
	/** Every sign-in that was tried. */
	readonly signIns: readonly { user: string; isRight: boolean }[];
	/** Tells it its portal; before that it sends nobody anywhere. */
	connect(connection: Connection): void;
	/** The device leaves, and another one (or the same) joins. */
	join(device?: Partial<Device>): void;
	stop(): Promise<void>;
}

/** Addresses that operating systems request (A4 of the reference), with the answers that mean "online". */
const PROBES: Readonly<Record<string, Answer>> = {
	'/generate_204': { status: 204, headers: {}, body: '' },
	'/hotspot-detect.html': html('<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>'),
	'/connecttest.txt': {
		status: 200,
		headers: { 'content-type': 'text/plain' },
		body: 'Microsoft Connect Test'
	}
};

const BEHAVIOURS: Readonly<Record<Kind, (gate: Gate) => Behaviour>> = {
	opennds,
	'mikrotik-pap': (gate) => mikrotik(gate, 'pap'),
	'mikrotik-chap': (gate) => mikrotik(gate, 'chap'),
	coova,
	unifi
};

const NOT_CONNECTED: Answer = { status: 503, headers: { 'content-type': 'text/plain' }, body: 'no portal\n' };

/** Each gateway has a device of its own: who redirects one device again and again gets no stored visits. */
let devices = 0;

export async function startGateway(kind: Kind, options: { port?: number } = {}): Promise<StandInGateway> {
	devices += 1;
	const last = devices.toString(16).padStart(4, '0');
	let device: Device = { mac: `02:00:00:00:${last.slice(0, 2)}:${last.slice(2)}`, ip: '127.0.0.1' };
	let connection: Connection | null = null;
	let isOnline = false;
	const signIns: { user: string; isRight: boolean }[] = [];

	const server = createServer((request, response) => {
		void answer(request.url ?? '/')
			.catch((error: unknown): Answer => {
				console.error(error);
				return { status: 500, headers: {}, body: '' };
			})
			.then(({ status, headers, body }) => {
				response.writeHead(status, { 'cache-control': 'no-store', ...headers });
				response.end(request.method === 'HEAD' ? '' : body);
			});
	});
	server.listen(options.port ?? 0, '127.0.0.1');
	await once(server, 'listening');
	const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
	const url = `http://${host}`;

	const behaviour = BEHAVIOURS[kind]({
		url,
		host,
		random: randomBytes,
		get device() {
			return device;
		},
		get connection() {
			if (!connection) throw new Error('The gateway is not connected to a portal');
			return connection;
		},
		signIn(login) {
			signIns.push(login);
			if (login.isRight) isOnline = true;
		}
	});

	async function answer(target: string): Promise<Answer> {
		if (!connection) return NOT_CONNECTED;
		const { pathname, searchParams } = new URL(target, url);
		const own = await behaviour.own(pathname, searchParams);
		if (own) return own;
		if (!isOnline) return behaviour.intercept(url + target);
		return PROBES[pathname] ?? html('<!doctype html><title>The internet</title><h1>The internet</h1>');
	}

	return {
		url,
		host,
		signIns,
		get isOnline() {
			return isOnline;
		},
		connect(to) {
			connection = to;
		},
		join(other = {}) {
			device = { ...device, ...other };
			isOnline = false;
		},
		async stop() {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		}
	};
}
