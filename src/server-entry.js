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
const http = server.server;
answerAll(http);
// `server.attach` is what answers pages; the application puts the API before it.
const tell = () => process.emit('airtill:listening', http, server.attach);
if (http.listening) tell();
else http.once('listening', tell);

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

/**
 * Requests that Node would answer by itself, and not in JSON: a missing Host header (asked for where the answer is
 * made; for pages the adapter asks for it) and an expectation that Node does not know, which may be ignored (RFC 9110,
 * 10.1.1). And what is left of a body is read away.
 * @param {import('node:http').Server} http
 */
function answerAll(http) {
	http.requireHostHeader = false;
	http.on('checkExpectation', (request, response) => http.emit('request', request, response));
	http.prependListener('request', (request, response) => {
		const hasBody = request.headers['content-length'] || request.headers['transfer-encoding'];
		if (hasBody) response.once('finish', () => discardRest(request));
	});
}
