import { isIP } from 'node:net';

type BasemapSource =
	| { kind: 'pmtiles'; path: string }
	| {
			kind: 'tiles';
			/** Address with `{z}`, `{x}` and `{y}` once each, in the path or query. */
			template: string;
			/** True for plain http or an IP address as host, which need BASEMAP_ALLOW_PRIVATE. */
			isPrivate: boolean;
	  };

const PLACEHOLDER = /\{[^{}]*\}/g;
const NEEDED = '{x} {y} {z}';

/** Returns the source, or how to correct the setting. */
export function readBasemap(text: string): BasemapSource | { problem: string } {
	if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
		return text.endsWith('.pmtiles')
			? { kind: 'pmtiles', path: text }
			: { problem: 'Use the path of a ".pmtiles" file, or "https://HOST/{z}/{x}/{y}.png".' };
	}
	const names = text.match(PLACEHOLDER) ?? [];
	if ([...names].sort().join(' ') !== NEEDED) {
		return { problem: 'Use each of {z}, {x} and {y} once, and no other name in braces.' };
	}
	const filled = text.replace(PLACEHOLDER, '0');
	if (!URL.canParse(filled)) return { problem: 'This is not an address.' };
	const url = new URL(filled);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: 'Use https.' };
	if (url.username !== '' || url.password !== '' || filled.includes('#')) {
		return { problem: 'Leave out the username, password and fragment.' };
	}
	// A visitor chooses the numbers, so they must not become part of the host.
	const start = text.indexOf('//') + 2;
	if (PLACEHOLDER.test(text.slice(start).split(/[/?]/, 1)[0] ?? '')) {
		return { problem: 'Use {z}, {x} and {y} in the path or the query only.' };
	}
	const isPrivate = url.protocol === 'http:' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
	return { kind: 'tiles', template: text, isPrivate };
}
