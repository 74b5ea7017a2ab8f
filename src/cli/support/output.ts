/** Whoever read our output has closed it (`| head`); nothing is wrong. */
export class OutputClosed extends Error {}

/** Writes a line to standard output. @throws OutputClosed when nobody reads it any more */
export function print(text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		process.stdout.write(`${text}\n`, (error) => {
			if (!error) resolve();
			else reject('code' in error && error.code === 'EPIPE' ? new OutputClosed() : error);
		});
	});
}

/** Text that cannot move the cursor or colour the terminal. */
export const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');
