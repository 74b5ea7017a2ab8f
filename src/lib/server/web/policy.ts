/** As SvelteKit writes one into a directive. */
const HASH = / 'sha256-[^']+'/g;

/**
 * SvelteKit's Content-Security-Policy without what says nothing more: it goes out uncompressed, before the page. A hash
 * beside a nonce is that of the script in app.html, which carries the nonce, too; it stays where there is no nonce,
 * because a page has no other script.
 *
 * @param policy one header
 */
export function shortenPolicy(policy: string): string {
	return policy
		.split('; ')
		.map((directive) =>
			directive.startsWith('script-src ') && directive.includes(" 'nonce-")
				? directive.replace(HASH, '')
				: directive
		)
		.join('; ');
}
