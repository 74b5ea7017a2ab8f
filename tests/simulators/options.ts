/** `--name value` of the command line beside `--port`. */
export type ProtocolOptions = Readonly<Record<string, string>>;

/** @throws Error that names an option that the protocol does not have */
export function checkOptions(options: ProtocolOptions, known: readonly string[]): void {
	const strange = Object.keys(options).find((name) => !known.includes(name));
	if (strange !== undefined) throw new Error(`There is no --${strange} here.`);
}
