/**
 * `npm start`: everything from a fresh clone to a running Airtill. The server runs in this very process, so
 * that starting again costs no more than looking whether something changed. Migrations, demo data and the
 * printed address are the application's own (src/hooks.server.ts); production runs `node src/server.js` instead.
 */
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

// Relative paths in the configuration (DATABASE_URL=file:./data/airtill.db) mean the project's folder.
process.chdir(root);
process.env['PORT'] ||= '3000';
// All interfaces, so that a phone in the same network can open the portal.
process.env['HOST'] ||= '0.0.0.0';
// Ctrl-C: a page that is waiting for its payment must not hold the terminal for half a minute.
process.env['SHUTDOWN_TIMEOUT'] ||= '2';

// A computed address: the server imports the build, which does not exist when this file is type-checked.
await import(new URL('../server.js', import.meta.url).href);
