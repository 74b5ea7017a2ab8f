declare module '@zxcvbn-ts/language-common' {
	/** Its own types also list every key of every keyboard. */
	export const dictionary: { 'passwords-common': string[] };
}
