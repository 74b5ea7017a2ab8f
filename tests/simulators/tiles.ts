/**
 * A tile server on this machine: every tile is a real PNG of one colour, which tells its zoom and place. It answers
 * as it is told, and keeps what it was asked.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';

const SIZE = 256;
/** Even numbers, so that neighbours differ and no tile is white. */
const colourOf = (z: number, x: number, y: number) =>
	[40 + ((z * 20) % 160), 60 + ((x * 40) % 160), 80 + ((y * 40) % 160)] as const;

/** Draws a tile in the colour of its name. */
export function tilePicture(z: number, x: number, y: number): Promise<Buffer> {
	const [r, g, b] = colourOf(z, x, y);
	return sharp({ create: { width: SIZE, height: SIZE, channels: 3, background: { r, g, b } } })
		.png()
		.toBuffer();
}

interface AskedTile {
	path: string;
	headers: IncomingHttpHeaders;
}

/** `hang` never answers, `drop` closes the connection; null: as usual. */
export type TileReply =
	| 'hang'
	| 'drop'
	| { status?: number; headers?: Record<string, string>; body?: Buffer | string | Promise<Buffer> }
	| null;

export interface TileSimulator {
	/** `http://127.0.0.1:<port>/{z}/{x}/{y}.png?key=test` */
	readonly template: string;
	readonly url: string;
	/** What was asked, oldest first. */
	readonly asked: readonly AskedTile[];
	/** Most requests that were open at once. */
	readonly mostAtOnce: number;
	/** How every tile is answered from now on. */
	reply(how: TileReply | ((path: string) => TileReply)): void;
	stop(): Promise<void>;
}

export async function startTileSimulator(): Promise<TileSimulator> {
	const asked: AskedTile[] = [];
	let how: (path: string) => TileReply = () => null;
	let open = 0;
	let mostAtOnce = 0;

	const server = createServer((request, response) => {
		const path = request.url ?? '';
		asked.push({ path, headers: request.headers });
		open += 1;
		mostAtOnce = Math.max(mostAtOnce, open);
		response.on('close', () => (open -= 1));
		void answer(response, path, how(path));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return {
		url,
		template: `${url}/{z}/{x}/{y}.png?key=test`,
		asked,
		get mostAtOnce() {
			return mostAtOnce;
		},
		reply(next) {
			how = typeof next === 'function' ? next : () => next;
		},
		async stop() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		}
	};
}

async function answer(response: ServerResponse, path: string, reply: TileReply): Promise<void> {
	if (reply === 'hang') return;
	if (reply === 'drop') return void response.destroy();
	const [, z, x, y] = /^\/(\d+)\/(\d+)\/(\d+)\.png/.exec(path) ?? [];
	const { status = 200, headers = {}, body = tilePicture(Number(z), Number(x), Number(y)) } = reply ?? {};
	const picture = status === 304 ? undefined : await body;
	response.writeHead(status, { 'content-type': 'image/png', ...headers });
	response.end(picture);
}
