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
		console.error(
			`Port ${error.port} is in use by another program. Choose another one: PORT=3001 npm start`
		);
	} else {
		console.error(error);
	}
	process.exit(1);
});

const { server } = await import('./server.js');
if (server.server.listening) process.emit('airtill:listening');
else server.server.once('listening', () => process.emit('airtill:listening'));
