import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A price and a form with inline CSS and no script: the lower bound for a page. */
const PAGE = `<!doctype html>
<html lang="en">
	<head>
		<meta charset="utf-8" />
		<meta name="viewport" content="width=device-width, initial-scale=1" />
		<title>Wi-Fi</title>
		<style>
			body { font: 1rem/1.5 system-ui, sans-serif; margin: 1rem }
			label { display: block; margin: 1rem 0 }
			input, button { box-sizing: border-box; font: inherit; padding: 0.5rem; width: 100% }
			button { background: #0a6b4b; border: 0; color: #fff }
		</style>
	</head>
	<body>
		<h1>Wi-Fi</h1>
		<p>UGX 500 an hour</p>
		<form method="post">
			<label>Your mobile-money number <input name="phone" type="tel" required /></label>
			<button>Pay</button>
		</form>
	</body>
</html>
`;

/** Serves the bare form at every path of a free port. */
export async function startBareForm(): Promise<{ url: string; stop(): Promise<void> }> {
	const body = gzipSync(PAGE, { level: 9 });
	const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip', 'content-length': body.length };
	const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
		async stop() {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		}
	};
}
