/** Keeps unaccented letters, digits and ` .,-`, because operators refuse other signs; `refused` matches more. */
export const plainText = (text: string, length: number, refused = /[^A-Za-z0-9 .,-]+/g): string =>
	text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.replace(refused, ' ')
		.replace(/ +/g, ' ')
		.trim()
		.slice(0, length)
		.trim();
