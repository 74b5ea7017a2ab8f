import { createServer } from 'node:net';

/**
 * A port on which nobody listens. Below 32768, where Linux takes no ports for outgoing connections: a server
 * that is restarted finds its port still free.
 */
export async function freePort(): Promise<number> {
	const attempts = 100;
	for (let attempt = 0; attempt < attempts; attempt++) {
		const port = 20_000 + Math.floor(Math.random() * 12_000);
		if (await isFree(port)) return port;
	}
	throw new Error(`No free port between 20000 and 32000 after ${attempts} attempts.`);
}

function isFree(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const probe = createServer();
		probe.once('error', () => resolve(false));
		probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
	});
}
