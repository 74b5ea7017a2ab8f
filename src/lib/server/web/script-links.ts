import type { ResolveOptions } from '@sveltejs/kit';

/** How SvelteKit's script in a page asks for its own start and for the page's parts. */
const IMPORTS = /Promise\.all\(\[\s*(import\("[^"]+"\)),\s*(import\("[^"]+"\))\s*\]\)/;
/** The moment after the first frame; a page that nobody sees has none. */
const PAINTED = 'new Promise((go) => (document.hidden ? go() : requestAnimationFrame(() => setTimeout(go))))';

/**
 * The scripts that a page loads ahead, named at its end, and asked to run when it has been painted. SvelteKit would name
 * them in a header: that goes out without compression, before the price that somebody waits for, and has the browser ask
 * for a dozen files first; and it would begin with them before the first frame.
 */
export function scriptLinks(): {
	/** For `resolve`: takes the scripts out of the header, and leaves what else SvelteKit puts there. */
	preload: NonNullable<ResolveOptions['preload']>;
	/** The page with them. */
	addTo(html: string): string;
} {
	const paths: string[] = [];
	return {
		preload({ type, path }) {
			if (type === 'js') paths.push(path);
			return type === 'css';
		},
		addTo(html) {
			const end = html.lastIndexOf('</body>');
			if (end === -1) return html;
			const links = paths.splice(0).map((path) => `<link rel="modulepreload" href="${encodeURI(path)}">`);
			return (html.slice(0, end) + links.join('') + html.slice(end)).replace(
				IMPORTS,
				(_, start: string, parts: string) => `${PAINTED}.then(() => Promise.all([${start}, ${parts}]))`
			);
		}
	};
}
