import type { GatewaySettings } from '../gateway.ts';

/**
 * Returns why devices cannot reach the portal at this level of `fas_secure_enabled`, and the fix; null if they can.
 * @param origin address of this installation; null if it is unknown
 */
export function levelProblem(
	{ level }: GatewaySettings,
	origin: string | null
): { what: string; advice: string } | null {
	if (origin === null) return null;
	const isHttps = origin.startsWith('https:');
	if (level === 1 && isHttps) {
		return {
			what: `level 1 sends devices by plain http, and the portal is at ${origin}`,
			advice: 'use --level 4 (openNDS 10.2 or newer), or an http ORIGIN'
		};
	}
	if (level === 4 && !isHttps) {
		return {
			what: `level 4 sends devices by https, and the portal is at ${origin}`,
			advice: 'use an https ORIGIN, or --level 1'
		};
	}
	return null;
}
