/**
 * A MAC address in one way of writing: `aa:bb:cc:dd:ee:ff`. Gateways write it with colons, hyphens, dots or nothing.
 * @returns null when the text is none
 */
export function normaliseMac(text: string): string | null {
	const digits = text.trim().toLowerCase();
	const inPairs = /^[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/;
	// As Cisco writes it: three groups of four.
	const inFours = /^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/;
	if (!inPairs.test(digits) && !inFours.test(digits)) return null;
	return digits.replace(/[:.-]/g, '').replace(/..(?=.)/g, '$&:');
}
