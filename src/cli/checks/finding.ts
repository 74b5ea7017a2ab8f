import { plain, print } from '../support/output.ts';

export interface Finding {
	level: 'ok' | 'warn' | 'FAIL';
	/** The subject, e.g. `database`. */
	name: string;
	what: string;
	/** The next step; null if none is needed. */
	advice: string | null;
}

const finding =
	(level: 'warn' | 'FAIL') =>
	(name: string, what: string, advice: string): Finding => ({ level, name, what, advice });

export const ok = (name: string, what: string): Finding => ({ level: 'ok', name, what, advice: null });
export const warn = finding('warn');
export const fail = finding('FAIL');

export const REPORT_HELP =
	'Prints one line for each check: ok, warn or FAIL, the result and the next step. The exit code is 1 after a FAIL.';

/** @returns the exit code */
export async function report(findings: AsyncIterable<Finding>): Promise<number> {
	let code = 0;
	for await (const { level, name, what, advice } of findings) {
		if (level === 'FAIL') code = 1;
		await print(plain(`${level} ${name}: ${what}${advice === null ? '' : ` - ${advice}`}`));
	}
	return code;
}
