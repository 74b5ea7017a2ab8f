/** In this order, because most browsers also name those below. */
const BROWSERS: readonly [RegExp, string][] = [
	[/\bEdgA?\//, 'Edge'],
	[/\bOPR\//, 'Opera'],
	[/\bSamsungBrowser\//, 'Samsung Internet'],
	[/\b(Firefox|FxiOS)\//, 'Firefox'],
	[/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
	[/\bSafari\//, 'Safari']
];

const SYSTEMS: readonly [RegExp, string][] = [
	[/iPhone/, 'iPhone'],
	[/iPad/, 'iPad'],
	[/Android/, 'Android'],
	[/Windows/, 'Windows'],
	[/CrOS/, 'ChromeOS'],
	[/Macintosh/, 'Mac'],
	[/Linux/, 'Linux']
];

/** Names a device from its User-Agent header: "Chrome on Android". */
export function deviceName(userAgent: string): string {
	const name = (list: readonly [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
	const [browser, system] = [name(BROWSERS), name(SYSTEMS)];
	if (browser === undefined) return system === undefined ? 'Unknown device' : `A program on ${system}`;
	return system === undefined ? browser : `${browser} on ${system}`;
}
