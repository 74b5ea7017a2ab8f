/**
 * The programs that run the samples of the documentation (tests/api/api/document/docs-examples.test.ts,
 * tests/api/operations/data/pgbouncer.test.ts), from Debian's packages.
 */
import { spawnSync } from 'node:child_process';
import { canInstall, install } from './apt.js';

/** Debian packages with their programs. */
const PROGRAMS = { curl: 'curl', python3: 'python3', 'php-cli': 'php', pgbouncer: 'pgbouncer' };

/** Installs what is missing, where that may be done. */
export function ensureSamplePrograms() {
	const missing = Object.entries(PROGRAMS)
		.filter(([, program]) => spawnSync(program, ['--version']).status !== 0)
		.map(([name]) => name);
	if (missing.length > 0 && canInstall()) install(missing, { start: false });
}
