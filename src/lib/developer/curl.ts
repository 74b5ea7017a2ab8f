import { firstMedia, resolve, type ApiDocument, type Endpoint, type Parameter } from './openapi.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a call with the document's examples. It runs unchanged with the key in `AIRTILL_KEY`. */
export function curlExample(document: ApiDocument, { method, path, operation }: Endpoint): string {
	const shown = (operation.parameters ?? [])
		.map((parameter) => resolve<Parameter>(document, parameter))
		.filter((parameter) => parameter.in === 'header' || parameter.required);
	let address = new URL(document.servers[0]?.url ?? 'http://localhost').origin + path;
	const query = new URLSearchParams();
	for (const { name, in: location, example } of shown) {
		if (location === 'path') address = address.replace(`{${name}}`, String(example));
		if (location === 'query') query.set(name, String(example));
	}
	const body = Object.values(firstMedia(operation.requestBody?.content)?.examples ?? {})[0]?.value;
	const hasOwnMethod = method === 'GET' || (method === 'POST' && body !== undefined);
	return [
		`curl ${hasOwnMethod ? '' : `-X ${method} `}${quoted(query.size > 0 ? `${address}?${query}` : address)}`,
		'-H "Authorization: Bearer $AIRTILL_KEY"',
		...shown
			.filter(({ in: location }) => location === 'header')
			.map(({ name, example }) => `-H ${quoted(`${name}: ${String(example)}`)}`),
		...(body === undefined
			? []
			: ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`])
	].join(' \\\n  ');
}
