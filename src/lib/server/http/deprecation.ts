import type { Deprecation } from '../contract/routes.ts';

/**
 * How an endpoint says that it will go away: `Deprecation` (RFC 9745, a structured date), `Sunset` (RFC 8594, an
 * HTTP-date) and links to the reason and to what replaces it (RFC 8288). From the sunset on its route is unknown.
 */
export function announceDeprecation(headers: Headers, deprecation: Deprecation, origin: string): void {
	const { since, sunset, successor } = deprecation;
	headers.set('deprecation', `@${Math.floor(Date.parse(since) / 1000)}`);
	headers.set('sunset', new Date(sunset).toUTCString());
	headers.append('link', `<${origin}/docs/deprecations>; rel="deprecation"`);
	if (successor !== null) headers.append('link', `<${successor}>; rel="successor-version"`);
}

export const isPastSunset = (deprecation: Deprecation, now: number): boolean =>
	now >= Date.parse(deprecation.sunset);
