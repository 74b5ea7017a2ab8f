const STARTS: readonly (readonly [type: string, pattern: RegExp])[] = [
	['image/png', /^\x89PNG\r\n/],
	['image/jpeg', /^\xff\xd8\xff/],
	['image/webp', /^RIFF[^]{4}WEBP/]
];
const LONGEST_START = 12;

/**
 * Detects a picture's type by its first bytes, as browsers do, because Content-Type can be wrong.
 *
 * @returns `image/png`, `image/jpeg` or `image/webp`; null for everything else, SVG included
 */
export function imageType(bytes: Buffer): string | null {
	const start = bytes.subarray(0, LONGEST_START).toString('latin1');
	return STARTS.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}
