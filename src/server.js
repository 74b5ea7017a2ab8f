/**
 * The production server: `npm run build`, then `node src/server.js`.
 * An adapter-node custom server (https://svelte.dev/docs/kit/adapter-node#Custom-server): /v1 goes to the
 * API, the rest to SvelteKit. It imports nothing from `lib/`, because SvelteKit's build owns the application.
 * `src/hooks.server.ts` hands it over on `globalThis` while `build/handler.js` is imported.
 * Plain JavaScript that any Node can parse, so that an old Node shows a message instead of a stack trace.
 * Settings, as with adapter-node: PORT, HOST, SOCKET_PATH, SHUTDOWN_TIMEOUT, KEEP_ALIVE_TIMEOUT,
 * HEADERS_TIMEOUT. Our own: DRAIN_SECONDS, BODY_TIMEOUT. An empty one counts as unset.
 */
import { createServer } from 'node:http';
import module from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { endWithNpm } from './cli/bootstrap.js';

const REQUIRED_NODE = [22, 19];
const DEFAULT_PORT = 3000;
/** With the work of `airtill.closed`, a stop takes less than the ten seconds that containers get. */
const DEFAULT_SHUTDOWN_SECONDS = 5;
const DISCARD_MS = 5_000;
/** Seconds; forms of buyers need less than one on the slowest phone. Node's own limit is 300, for whatever arrives. */
const DEFAULT_HEADERS_TIMEOUT = 20;
const DEFAULT_BODY_TIMEOUT = 30;
/** A larger body, such as a logo on a slow link, has longer: 200 kbit/s. */
const SLOWEST_BYTES_PER_SECOND = 25_000;
/** How often Node looks for headers that are late. */
const LOOK_FOR_LATE_MS = 5_000;
/** /v1, percent-encoded or not (RFC 3986, section 6.2.2). */
const API_PATH = /^\/+(?:v|%76)(?:1|%31)(?:[/?#]|$)/;

/** Messages for common start errors. Other errors are printed in full. */
const START_ERRORS = {
	EADDRINUSE: (error) =>
		`Port ${error.port} is in use by another program. Choose another one: PORT=3001 npm start`,
	EADDRNOTAVAIL: (error) => `HOST=${error.address} is not an address of this machine.`,
	EACCES: (error) => `No permission for ${error.path ?? error.address}.`,
	EROFS: (error) => `${error.path} is on a read-only file system.`,
	ENOTDIR: (error) => `${error.path} cannot be created: a part of the path is a file.`,
	EEXIST: (error) => `${error.path} is a file where a folder is needed.`,
	ENOSPC: () => 'The disk is full.',
	ERR_MODULE_NOT_FOUND: (error) => `${error.message}\nRun "npm install" and "npm run build" first.`,
	ECONNREFUSED: () => 'The database does not answer: nothing listens at the address in DATABASE_URL.',
	ENOTFOUND: (error) => `The database is not found: there is no host ${error.hostname} (DATABASE_URL).`,
	'28P01': () => 'The database refuses the user or password in DATABASE_URL.',
	'3D000': (error) => `The database in DATABASE_URL does not exist: ${error.message}.`,
	ERR_SQLITE_ERROR: (error) => `The file in DATABASE_URL cannot be used as a database: ${error.message}.`
};

requireNode();
// npx, too, passes SIGTERM to its shell only.
if (process.env['npm_lifecycle_event'] === 'npx') endWithNpm();
process.on('uncaughtException', exitWith);
// A full disk or a closed terminal does not keep it from serving.
process.stdout.on('error', () => {});

// Saves compiling at each start.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/airtill', import.meta.url)));
// Owners' logos (branding.ts). hooks.server.ts limits all other forms to 16 KB.
process.env['BODY_SIZE_LIMIT'] ||= '6M';
const { handler } = await import('../build/handler.js').catch(exitWith);
const { getRequestListener } = await import('@hono/node-server');
const airtill = globalThis[Symbol.for('airtill.api')];
// Unread bodies: see discardRest().
const api = getRequestListener(airtill.fetch, { autoCleanupIncoming: false });

const responses = new Set();
const sockets = new Set();
let isStopping = false;

const server = createServer(timeouts(), (request, response) => {
	responses.add(response);
	// Also for files that no hook sees.
	response.setHeader('x-content-type-options', 'nosniff');
	response.once('close', () => responses.delete(response));
	if (isStopping) response.setHeader('connection', 'close');
	response.once('finish', () => discardRest(request));
	nameHost(request);
	awaitBody(request, response);
	// SvelteKit drops a body without a type, and operators need not send one.
	if (request.url.startsWith('/callbacks/')) request.headers['content-type'] ||= 'application/octet-stream';
	airtill.enter(request, response, () => {
		if (API_PATH.test(request.url)) api(request, response);
		else handler(request, response, () => response.writeHead(404).end());
	});
});
server.on('connection', (socket) => {
	sockets.add(socket);
	socket.once('close', () => sockets.delete(socket));
});
// An unknown expectation may be ignored (RFC 9110, section 10.1.1); Node would answer 417.
server.on('checkExpectation', (request, response) => server.emit('request', request, response));
server.listen(
	// With a port, Node ignores the path.
	process.env['SOCKET_PATH']
		? { path: process.env['SOCKET_PATH'] }
		: { host: process.env['HOST'] || '0.0.0.0', port: process.env['PORT'] || DEFAULT_PORT },
	() => airtill.opened()
);

process.on('SIGTERM', stop);
process.on('SIGINT', stop);

/** Lets proxies notice that this process stops: /readyz answers 503, connections end with their next response. */
function stop() {
	if (isStopping) return;
	isStopping = true;
	airtill.draining();
	const seconds = Number(process.env['DRAIN_SECONDS'] ?? 0);
	if (seconds > 0) setTimeout(close, seconds * 1000);
	else close();
}

/** Stops accepting connections, answers the requests that have arrived, then stops the application. */
function close() {
	airtill.closing();
	server.close(async () => {
		await airtill.closed();
		// Names whose server does not answer would be looked up to the last.
		process.exit();
	});
	for (const response of responses) if (!response.headersSent) response.setHeader('connection', 'close');
	// Browsers open connections early, and Node counts them as busy until their first request.
	setImmediate(() => {
		for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
	});
	const seconds = Number(process.env['SHUTDOWN_TIMEOUT'] || DEFAULT_SHUTDOWN_SECONDS);
	setTimeout(() => server.closeAllConnections(), seconds * 1000).unref();
}

/**
 * Makes the host and the path of a request what its handlers expect: the first line may have the whole address, which
 * counts more than Host, or a `*` (RFC 9112, section 3.2), and HTTP/1.0 needs no host. Health checks of HAProxy do that.
 * @param {import('node:http').IncomingMessage} request
 */
function nameHost(request) {
	const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url) ?? [];
	if (host !== undefined) {
		request.headers.host = host;
		request.url = path.startsWith('/') ? path : `/${path}`;
	}
	if (request.url === '*') request.url = '/';
	// The API's listener would answer it with an empty 400 before anybody saw the request.
	if (API_PATH.test(request.url)) request.url = request.url.replaceAll('\\', '%5C');
	if (request.headers.host) return;
	const { localAddress = '', localPort } = request.socket;
	const address = localAddress.includes(':') ? `[${localAddress.replace(/%.*/, '')}]` : localAddress;
	request.headers.host = address === '' ? 'localhost' : `${address}:${localPort}`;
}

/**
 * Ends a request whose body does not arrive in time. Half-sent forms cost their sender nothing.
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
function awaitBody(request, response) {
	const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
	if (!coding && !(Number(length) > 0)) return;
	const seconds =
		Number(process.env['BODY_TIMEOUT'] || DEFAULT_BODY_TIMEOUT) +
		Number(length ?? 0) / SLOWEST_BYTES_PER_SECOND;
	const limit = setTimeout(() => {
		if (request.complete) return;
		// As Node does; the API has no 408. The handler sees a sender who broke off.
		if (response.socket && !response.headersSent && !API_PATH.test(request.url)) {
			response.socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
		}
		request.destroy();
	}, seconds * 1000).unref();
	for (const end of ['end', 'close']) request.once(end, () => clearTimeout(limit));
}

/**
 * Discards the rest of a refused body, such as a logo that is too large.
 * Otherwise it stays paused, and the next request on the same connection waits behind it.
 * @param {import('node:http').IncomingMessage} request
 */
function discardRest(request) {
	if (request.complete) return;
	request.removeAllListeners('data');
	request.resume();
	const limit = setTimeout(() => request.destroy(), DISCARD_MS).unref();
	request.once('close', () => clearTimeout(limit));
}

function timeouts() {
	const options = { connectionsCheckingInterval: LOOK_FOR_LATE_MS };
	if (process.env['KEEP_ALIVE_TIMEOUT']) options.keepAliveTimeout = process.env['KEEP_ALIVE_TIMEOUT'] * 1000;
	options.headersTimeout = (process.env['HEADERS_TIMEOUT'] || DEFAULT_HEADERS_TIMEOUT) * 1000;
	return options;
}

function requireNode() {
	const [major, minor] = process.versions.node.split('.').map(Number);
	if (major > REQUIRED_NODE[0] || (major === REQUIRED_NODE[0] && minor >= REQUIRED_NODE[1])) return;
	console.error(
		`Airtill needs Node ${REQUIRED_NODE.join('.')} or newer; this is Node ${process.versions.node}.\n` +
			'Run "npm start" (it brings its own Node), or "node_modules/.bin/node src/server.js" in this folder after "npm install".'
	);
	process.exit(1);
}

/** @param {Error & { code?: string }} error */
function exitWith(error) {
	const sentence = START_ERRORS[error?.code];
	// The message explains the fix.
	if (error?.name === 'Refused') console.error(error.message);
	else if (sentence) console.error(sentence(error));
	else console.error(error);
	process.exit(1);
}
