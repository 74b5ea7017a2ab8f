import type { Finding } from '#lib/server/checks/finding.ts';

/** The reader of our output has closed it (`| head`), which is not an error. */
export class OutputClosed extends Error {}

/** @throws OutputClosed if the reader has closed the output */
export function print(text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		process.stdout.write(`${text}\n`, (error) => {
			if (!error) resolve();
			else reject('code' in error && error.code === 'EPIPE' ? new OutputClosed() : error);
		});
	});
}

/** Removes control characters, which could move the cursor or colour the terminal. */
export const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

export const tableLine =
	(...widths: number[]) =>
	(...cells: string[]): string =>
		cells.map((text, column) => plain(text).padEnd(widths[column] ?? 0)).join('  ');

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
