import type { Finding } from '#lib/server/checks/finding.ts';
import { plain, print } from '../support/output.ts';

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
