/** Pages as their text: what a reader without scripts gets. */

export interface Html {
	path: string;
	status: number;
	text: string;
	/** `href` attributes, unchanged. */
	links: string[];
	ids: Set<string>;
	/** Addresses that a browser would fetch by itself. */
	fetched: string[];
	/** Blocks of code by their name. */
	code: ReadonlyMap<string, string>;
}

const ENTITIES = new Map(Object.entries({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&', nbsp: ' ' }));

/** Replaces the entities of HTML by what they stand for. */
export const decoded = (text: string) =>
	text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES.get(name) ?? whole);

/** Decodes HTML text. */
export const plain = (html: string) => decoded(html.replace(/<[^>]*>/g, ''));

const all = (text: string, pattern: RegExp) =>
	[...text.matchAll(pattern)].map(([, found = '']) => plain(found));

export async function page(url: string, path: string): Promise<Html> {
	const response = await fetch(url + path, { redirect: 'manual', headers: { accept: 'text/html' } });
	const text = (await response.text()).replaceAll(/<!--.*?-->/gs, '');
	const blocks = [...text.matchAll(/<pre[^>]*data-code="([^"]*)"[^>]*>(.*?)<\/pre>/gs)];
	return {
		path,
		status: response.status,
		text,
		links: all(text, /<a\s[^>]*href="([^"]*)"/g),
		ids: new Set(all(text, /\sid="([^"]*)"/g)),
		fetched: [
			...all(text, /<(?:link|script|img|iframe|source)\s[^>]*(?:href|src)="([^"]*)"/g),
			...all(text, /url\(([^)]*)\)/g),
			...all(text, /@import\s+['"]([^'"]*)/g)
		],
		code: new Map(blocks.map(([, name = '', code = '']) => [name, plain(code)]))
	};
}
