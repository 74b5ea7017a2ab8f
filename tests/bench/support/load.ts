/**
 * The load generator, run as its own process: a number of connections, each with one request at a time (no
 * pipelining). It uses plain sockets and parses just enough HTTP/1.1 to find the end of a response, because an HTTP
 * client would use more CPU time per request than the server. It receives a task and sends its result over IPC.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import process from 'node:process';

export interface Task {
	port: number;
	connections: number;
	seconds: number;
	/** Requested in turn. */
	paths: string[];
	key: string | null;
}

export interface Seen {
	requests: number;
	seconds: number;
	/** CPU use of this process; 1 is one core. */
	busy: number;
}

const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');
const END_OF_HEAD = Buffer.from('\r\n\r\n');

process.on('message', (task: Task) => {
	run(task).then(
		(seen) => process.send?.(seen),
		(error: unknown) => {
			console.error(error);
			process.exit(1);
		}
	);
});
process.on('disconnect', () => process.exit());

async function run({ port, connections, seconds, paths, key }: Task): Promise<Seen> {
	const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`;
	const requests = paths.map((path) =>
		Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}\r\n`)
	);
	const seen = { requests: 0 };
	let asked = 0;
	const next = () => requests[asked++ % requests.length] ?? Buffer.alloc(0);
	const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
	const cpu = process.cpuUsage();
	const started = performance.now();
	const end = started + seconds * 1000;
	await Promise.all(sockets.map((socket) => ask(socket, next, seen, end)));
	const wall = performance.now() - started;
	const used = process.cpuUsage(cpu);
	for (const socket of sockets) socket.destroy();
	return { ...seen, seconds: wall / 1000, busy: (used.user + used.system) / 1000 / wall };
}

async function open(port: number): Promise<Socket> {
	const socket = connect({ port, host: '127.0.0.1', noDelay: true });
	await once(socket, 'connect');
	return socket;
}

/** Repeats requests until `end`; resolves after the last response. */
function ask(socket: Socket, next: () => Buffer, seen: { requests: number }, end: number): Promise<void> {
	return new Promise((resolve, reject) => {
		let collected: Buffer | null = null;
		socket.on('error', reject);
		socket.on('close', () => reject(new Error('The server closed a connection')));
		socket.on('data', (data: Buffer) => {
			collected = collected ? Buffer.concat([collected, data]) : data;
			if (!isWhole(collected)) return;
			const status = collected.toString('latin1', 9, 12);
			if (status !== '200') return reject(new Error(`Not a 200: ${collected.toString('utf8', 0, 2_000)}`));
			collected = null;
			seen.requests += 1;
			if (performance.now() < end) socket.write(next());
			else {
				socket.removeAllListeners('close');
				resolve();
			}
		});
		socket.write(next());
	});
}

/** True if a response is complete. A connection has only one at a time. */
function isWhole(data: Buffer): boolean {
	const head = data.indexOf(END_OF_HEAD);
	if (head === -1) return false;
	const length = /\r\ncontent-length: *(\d+)/i.exec(data.toString('latin1', 0, head))?.[1];
	if (length !== undefined) return data.length >= head + END_OF_HEAD.length + Number(length);
	return data.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS);
}
