/** Texts and brackets of JSON; everything else in it is of no matter here. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Names that stand more than once in a JSON object, each one once. `JSON.parse` takes the last value of such a name, and
 * what reads the body before us may take the first (RFC 8259, 4).
 * @param json valid JSON, an object
 */
export function repeatedNames(json: string): string[] {
	const seen = new Set<string>();
	const repeated = new Set<string>();
	let depth = 0;
	let text = '';
	for (const [token] of json.matchAll(TOKENS)) {
		if (token === '{' || token === '[') depth += 1;
		else if (token === '}' || token === ']') depth -= 1;
		else if (token !== ':') text = token;
		else if (depth === 1) {
			const name = String(JSON.parse(text));
			if (seen.has(name)) repeated.add(name);
			seen.add(name);
		}
	}
	return [...repeated];
}
