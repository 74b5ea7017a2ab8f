/** How a logo leaves: as a picture and as nothing else, whatever somebody manages to put into one. */
const HEADERS: Readonly<Record<string, string>> = {
	'content-security-policy': "default-src 'none'; sandbox",
	'x-content-type-options': 'nosniff',
	'cache-control': 'public, max-age=31536000, immutable',
	'content-disposition': 'inline'
};

/** @param file name of the logo: its hash, so that it serves as the ETag too */
export function answerLogo(
	request: Request,
	file: string,
	logo: { type: string; bytes: Buffer } | null
): Response {
	if (!logo) return new Response('There is no such picture.\n', { status: 404 });
	const etag = `"${file}"`;
	const known = (request.headers.get('if-none-match') ?? '').split(',').map((one) => one.trim());
	if (known.includes(etag) || known.includes(`W/${etag}`)) {
		return new Response(null, { status: 304, headers: { ...HEADERS, etag } });
	}
	return new Response(new Uint8Array(logo.bytes), {
		headers: { ...HEADERS, 'content-type': logo.type, etag }
	});
}
