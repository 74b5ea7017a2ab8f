/** `npm start`: prepares a fresh clone and starts Airtill. Production runs `node src/server.js`. */
import process from 'node:process';
import { endWithNpm, ensureBuilt, ensureInstalled, ensureNode, giveUp, root } from './bootstrap.js';

endWithNpm();
try {
	await ensureInstalled();
	await ensureNode();
	await ensureBuilt();
} catch (error) {
	giveUp(error);
}

// Relative paths in the configuration (DATABASE_URL=file:./data/airtill.db) start at the project's folder.
process.chdir(root);
process.env['PORT'] ||= '3000';
// All interfaces, so that a phone on the same network can open the portal.
process.env['HOST'] ||= '0.0.0.0';
// A page that waits for its payment must not delay Ctrl-C by half a minute.
process.env['SHUTDOWN_TIMEOUT'] ||= '2';

// A computed address: the server imports the build, which does not exist when this file is type-checked.
await import(new URL('../server.js', import.meta.url).href);
