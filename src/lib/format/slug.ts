/** The id of a heading in its page's address: "Test every outcome" is `test-every-outcome`. */
export const slug = (text: string): string =>
	text
		.toLowerCase()
		.replace(/[^\w\s.-]/g, '')
		.trim()
		.replace(/[\s.]+/g, '-');
