/** Writes a MAC address as `aa:bb:cc:dd:ee:ff`. Returns null if the text is not a MAC address. */
export function normaliseMac(text: string): string | null {
	const digits = text.trim().toLowerCase();
	const inPairs = /^[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/;
	// Cisco writes three groups of four digits.
	const inFours = /^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/;
	if (!inPairs.test(digits) && !inFours.test(digits)) return null;
	return digits.replace(/[:.-]/g, '').replace(/..(?=.)/g, '$&:');
}
