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
