/**
 * `node tests/support/start.js FILE.ts [ARGUMENT...]`: starts a tool of the tests. It says which packages are
 * missing instead of installing them: `npm ci` would remove those of a running server first.
 */
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { ensureNode, giveUp, isInstalled, root, SetupError } from '../../src/cli/bootstrap.js';

try {
	if (!isInstalled(root)) {
		throw new SetupError(
			'This needs the packages of the tests, which "npm start" does not install.\n' +
				'Stop Airtill if it runs in this folder, then run "npm ci" here once.'
		);
	}
	await ensureNode();
} catch (error) {
	giveUp(error);
}

const [file = ''] = process.argv.splice(2, 1);
process.argv[1] = path.resolve(root, file);
await import(pathToFileURL(process.argv[1]).href);
