import type { ResolveOptions } from '@sveltejs/kit';

/**
 * The scripts that a page loads ahead, named at its end. SvelteKit would name them in a header: that goes out without
 * compression, before the price that somebody waits for, and has the browser ask for a dozen files first.
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
			return html.slice(0, end) + links.join('') + html.slice(end);
		}
	};
}
