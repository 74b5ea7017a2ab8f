import type { Deprecation } from '../contract/routes.ts';

/**
 * How an endpoint says that it will go away: `Deprecation` (RFC 9745, a structured date), `Sunset` (RFC 8594, an
 * HTTP-date) and links to the reason and to what replaces it (RFC 8288). From the sunset on its route is unknown.
 */
export function announceDeprecation(
	headers: Record<string, string>,
	{ since, sunset, successor }: Deprecation,
	origin: string
): void {
	headers['deprecation'] = `@${Math.floor(Date.parse(since) / 1000)}`;
	headers['sunset'] = new Date(sunset).toUTCString();
	headers['link'] = [
		...(headers['link'] === undefined ? [] : [headers['link']]),
		`<${origin}/docs/deprecations>; rel="deprecation"`,
		...(successor === null ? [] : [`<${successor}>; rel="successor-version"`])
	].join(', ');
}

export const isPastSunset = (deprecation: Deprecation, now: number): boolean =>
	now >= Date.parse(deprecation.sunset);
