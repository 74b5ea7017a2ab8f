/**
 * Converts our reference to Airtel's `transaction.id` and back. `short` is for markets that refuse dashes or
 * more than 25 characters: the same 128 bits in base 36. The way back works for both formats.
 */
type IdFormat = 'uuid' | 'short';

const SHORT_LENGTH = 25;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function idOf(reference: string, format: IdFormat): string {
	if (format === 'uuid') return reference;
	return BigInt(`0x${reference.replaceAll('-', '')}`)
		.toString(36)
		.padStart(SHORT_LENGTH, '0');
}

/** Returns our reference; null if `idOf` did not create the id. */
export function referenceOf(id: string): string | null {
	const text = id.trim().toLowerCase();
	if (UUID.test(text)) return text;
	if (text.length !== SHORT_LENGTH || !/^[0-9a-z]+$/.test(text)) return null;
	const digits = [...text].reduce((sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)), 0n);
	const hex = digits.toString(16).padStart(32, '0');
	const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
	return UUID_V4.test(uuid) ? uuid : null;
}
