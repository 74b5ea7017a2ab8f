/** The sandbox keeps a stored SVG logo, opened as a document, from running anything. */
const HEADERS: Readonly<Record<string, string>> = {
	'content-security-policy': "default-src 'none'; sandbox",
	'x-content-type-options': 'nosniff',
	'cache-control': 'public, max-age=31536000, immutable',
	'content-disposition': 'inline'
};

/**
 * Answers GET for a logo.
 *
 * @param file its name, a hash of its bytes, which serves as the ETag
 */
export function answerLogo(
	request: Request,
	file: string,
	logo: { type: string; bytes: Buffer } | null
): Response {
	if (!logo) return new Response('No such logo.\n', { status: 404 });
	const etag = `"${file}"`;
	const known = (request.headers.get('if-none-match') ?? '').split(',').map((one) => one.trim());
	if (known.includes(etag) || known.includes(`W/${etag}`)) {
		return new Response(null, { status: 304, headers: { ...HEADERS, etag } });
	}
	return new Response(new Uint8Array(logo.bytes), {
		headers: { ...HEADERS, 'content-type': logo.type, etag }
	});
}
