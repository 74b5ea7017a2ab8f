/**
 * What `node build` starts (copied to build/index.js by svelte.config.js). Plain JavaScript that any Node can
 * parse: an old Node gets a sentence, not a stack trace. Once the port is open it tells the application with
 * the process event `airtill:listening`, so that the address is printed only when it answers.
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

process.on('uncaughtException', (error) => {
	if (error && error.code === 'EADDRINUSE') {
		console.error(`Port ${error.port} is in use by another program. Choose another one: PORT=3001 npm start`);
	} else {
		console.error(error);
	}
	process.exit(1);
});

const { server } = await import('./server.js');
answerAll(server.server);
if (server.server.listening) process.emit('airtill:listening');
else server.server.once('listening', () => process.emit('airtill:listening'));

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
 * Under /v1 every request is answered by the API, as JSON. Two never reach it by themselves: a path that ends
 * in SvelteKit's own `/__route.js`, and the method TRACE, which its Request refuses. Both are passed on in a form
 * that it takes for an unknown path or method.
 * @param {import('node:http').Server} http
 */
function answerAll(http) {
	const listeners = http.listeners('request');
	http.removeAllListeners('request');
	http.on('request', (request, response) => {
		if (/^\/+v1\//.test(request.url)) {
			request.url = request.url.replace(/\/__route\.js(?=$|\?)/, '/__route%2Ejs');
			if (request.method === 'TRACE') request.method = 'UNKNOWN';
		}
		response.once('finish', () => discardRest(request));
		for (const listener of listeners) listener.call(http, request, response);
	});
}
