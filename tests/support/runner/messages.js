import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SetupError, root, run, stampOf } from '../../../src/cli/bootstrap.js';

const inputs = ['project.inlang/settings.json', 'src/lib/i18n/messages', 'package-lock.json'];
/** Every compilation empties this folder first: no stamp is left beside the messages of another one. */
const stampFile = path.join(root, 'src/lib/i18n/generated/.stamp');

/**
 * Compiles the messages that the tests import, unless they are there.
 * @param {{ areNew: boolean }} messages whether a build has just compiled them
 */
export async function ensureMessages({ areNew }) {
	const stamp = stampOf(root, inputs);
	if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
	if (!areNew) {
		console.error('Compiling the messages ...');
		const { code, output } = await run('npm', ['run', 'language'], { cwd: root });
		if (code !== 0) throw new SetupError(`${output}\nnpm run language failed (code ${code}).`);
	}
	writeFileSync(stampFile, stamp);
}
