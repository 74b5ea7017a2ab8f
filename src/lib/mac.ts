/**
 * A MAC address in one way of writing: `aa:bb:cc:dd:ee:ff`. Gateways write it with colons, hyphens, dots or nothing.
 * @returns null when the text is none
 */
export function normaliseMac(text: string): string | null {
	const digits = text.trim().toLowerCase();
	if (!/^[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/.test(digits)) return null;
	return digits.replace(/[:-]/g, '').replace(/..(?=.)/g, '$&:');
}
