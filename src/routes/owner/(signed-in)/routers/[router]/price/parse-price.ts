/** Parses a typed price: "500", "1,500", "1 500", "12.50". Returns null for ambiguous text such as "1,5". */
export function parsePrice(text: string): number | null {
	const bare = text.trim().replace(/[\u00a0\u202f ]/g, '');
	const digits = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare;
	return /^\d{1,12}(\.\d{1,6})?$/.test(digits) ? Number(digits) : null;
}
