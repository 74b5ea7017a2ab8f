const STARTS: readonly (readonly [type: string, pattern: RegExp])[] = [
	['image/png', /^\x89PNG\r\n/],
	['image/jpeg', /^\xff\xd8\xff/],
	['image/webp', /^RIFF[^]{4}WEBP/]
];
const LONGEST_START = 12;

/** Checks the first bytes, because Content-Type can be wrong. Returns null for other types, including SVG. */
export function imageType(bytes: Buffer): string | null {
	const start = bytes.subarray(0, LONGEST_START).toString('latin1');
	return STARTS.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}
