import { isIP } from 'node:net';

/** Where the ground of the map comes from, as the operator of the installation wrote it. */
export type BasemapPlace =
	| { kind: 'pmtiles'; path: string }
	| {
			kind: 'tiles';
			/** With `{z}`, `{x}` and `{y}` in its path or query, once each, and nowhere else. */
			template: string;
			/** Plain http, or a host of a private network: needs to be allowed. */
			isPrivate: boolean;
	  };

const PLACEHOLDER = /\{[^{}]*\}/g;
const NEEDED = '{x} {y} {z}';

/** @returns the place, or a sentence about what is wrong with it */
export function readBasemap(text: string): BasemapPlace | { problem: string } {
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
		return { problem: 'Leave out user name, password and fragment.' };
	}
	// The host is the one that is allowed: nothing of a visitor's request may stand in it.
	const start = text.indexOf('//') + 2;
	if (PLACEHOLDER.test(text.slice(start).split(/[/?]/, 1)[0] ?? '')) {
		return { problem: 'Use {z}, {x} and {y} in the path or the query only.' };
	}
	const isPrivate = url.protocol === 'http:' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
	return { kind: 'tiles', template: text, isPrivate };
}
