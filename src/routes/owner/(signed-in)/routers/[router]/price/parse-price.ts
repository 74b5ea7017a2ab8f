/**
 * A price as people type it: "500", "1,500", "1 500", "12.50". What could be read in two ways ("1,5") is no number,
 * for a price that is guessed costs somebody money.
 */
export function parsePrice(text: string): number | null {
	const bare = text.trim().replace(/[\u00a0\u202f ]/g, '');
	const digits = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare;
	return /^\d{1,12}(\.\d{1,6})?$/.test(digits) ? Number(digits) : null;
}
