/**
 * What `node build` starts (copied to build/index.js by svelte.config.js). Plain JavaScript that any Node can
 * parse: an old Node gets a sentence, not a stack trace. Once the port is open it tells the application with
 * the process event `airtill:listening` and the server, so that the address is printed only when it answers.
 */
import process from 'node:process';

const needed = [22, 19];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
	console.error(
		`Airtill needs Node ${needed.join('.')} or newer; this is Node ${process.versions.node}.\n` +
			'Run "npm start" (it brings its own Node), or "npx node build" in this folder after "npm install".'
	);
	process.exit(1);
}

/** Sentences for what people get wrong at a start; everything else is shown whole. */
const SENTENCES = {
	EADDRINUSE: (error) =>
		`Port ${error.port} is in use by another program. Choose another one: PORT=3001 npm start`,
	EADDRNOTAVAIL: (error) => `HOST=${error.address} is not an address of this machine.`,
	EACCES: (error) => `No permission for ${error.path ?? error.address}.`,
	EROFS: (error) => `${error.path} is on a file system that cannot be written.`,
	ENOTDIR: (error) => `${error.path} cannot be made: a part of it is a file.`,
	EEXIST: (error) => `${error.path} is a file where a folder is needed.`,
	ENOSPC: () => 'The disk is full.',
	ECONNREFUSED: () => 'The database does not answer: nothing listens at the address in DATABASE_URL.',
	ENOTFOUND: (error) => `The database is not found: there is no host ${error.hostname} (DATABASE_URL).`,
	'28P01': () => 'The database refuses the user or password in DATABASE_URL.',
	'3D000': (error) => `The database in DATABASE_URL does not exist: ${error.message}.`,
	ERR_SQLITE_ERROR: (error) => `The file in DATABASE_URL cannot be used as a database: ${error.message}.`
};
const SAYS_IT_ALL = ['ConfigError', 'NewerDatabaseError'];

/** @param {Error & { code?: string }} error */
function giveUp(error) {
	const sentence = SENTENCES[error?.code];
	if (SAYS_IT_ALL.includes(error?.name)) console.error(error.message);
	else if (sentence) console.error(sentence(error));
	else console.error(error);
	process.exit(1);
}

process.on('uncaughtException', giveUp);

const { server } = await import('./server.js').catch(giveUp);
answerAll(server.server);
const http = server.server;
if (http.listening) process.emit('airtill:listening', http);
else http.once('listening', () => process.emit('airtill:listening', http));

/** Time in which the rest of a refused body may still come. */
const DISCARD_MS = 5_000;

/**
 * Reads away what is left of a body that nobody wanted. SvelteKit leaves it paused, and the next request on the
 * same connection would wait behind it for ever.
 * @param {import('node:http').IncomingMessage} request
 */
function discardRest(request) {
	if (request.complete) return;
	request.removeAllListeners('data');
	request.resume();
	const limit = setTimeout(() => request.destroy(), DISCARD_MS).unref();
	request.once('close', () => clearTimeout(limit));
}

/** `/v1` and what lies below, however the two characters and the slashes before them are written. */
const API_PATH = /^(\/+)(?:v|%76)(?:1|%31)(?=[/?#]|$)/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
const UNRESERVED = /^[\w.~-]$/;

/**
 * An address under /v1 in the one way of writing that the application compares with: in origin form, even when it
 * came as for a proxy (RFC 9112, 3.2.2), and without percent-encoding where none is needed (RFC 3986, 6.2.2.2).
 * @param {import('node:http').IncomingMessage} request
 */
function normalise(request) {
	const [start, host] = ABSOLUTE.exec(request.url) ?? ['', ''];
	const target = request.url.slice(start.length);
	if (!API_PATH.test(target)) return false;
	if (host !== '') request.headers.host = host;
	const [path, ...query] = target.replace(API_PATH, '$1v1').split('?');
	const plain = path
		.replace(/%([0-7][0-9a-f])/gi, (encoded, hex) => {
			const character = String.fromCharCode(Number.parseInt(hex, 16));
			return UNRESERVED.test(character) ? character : encoded;
		})
		.replace(/\/__route\.js$/, '/__route%2Ejs');
	request.url = [plain, ...query].join('?');
	return true;
}

/**
 * Under /v1 every request is answered by the API, as JSON. Some never reach it by themselves: a path that ends
 * in SvelteKit's own `/__route.js`, the method TRACE, which its Request refuses (both are passed on in a form that it
 * takes for an unknown path or method), a Host that is none, and an expectation that Node does not know, which may
 * be ignored (RFC 9110, 10.1.1).
 * @param {import('node:http').Server} http
 */
function answerAll(http) {
	const listeners = http.listeners('request');
	http.removeAllListeners('request');
	// Asked for below, where the refusal is JSON; for pages the adapter asks for it.
	http.requireHostHeader = false;
	http.on('checkExpectation', (request, response) => http.emit('request', request, response));
	http.on('request', (request, response) => {
		if (normalise(request)) {
			if (request.method === 'TRACE') request.method = 'UNKNOWN';
			if (request.httpVersion === '1.0') request.headers.host ??= 'localhost';
			if (!URL.canParse(`http://${request.headers.host ?? ''}`)) {
				http.emit('clientError', new Error('Host'), request.socket);
				return;
			}
		}
		response.once('finish', () => discardRest(request));
		for (const listener of listeners) listener.call(http, request, response);
	});
}
