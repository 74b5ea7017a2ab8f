declare module '@zxcvbn-ts/language-common' {
	/** Its own types also list every key of every keyboard. */
	export const dictionary: { 'passwords-common': string[] };
	/** The keys around a key, each with its signs: `2@`. */
	export const adjacencyGraphs: { qwerty: Record<string, (string | null)[]> };
}
