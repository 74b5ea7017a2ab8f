import type { OperationView } from '#lib/developer/reference.ts';
import { resolved, type ApiDocument, type Located, type Parameter } from './document.ts';

/** Examples of calls, made from the examples of the document: they run as they stand. */

interface Call {
	method: string;
	url: string;
	/** The operation's own; the key comes with every call. */
	headers: [name: string, value: string][];
	body: unknown;
}

/** Parameters that an ordinary call leaves out. */
const LEFT_OUT = ['limit', 'cursor', 'if_status'];

export const json = (value: unknown) => JSON.stringify(value, null, 2);

export function parametersOf(document: ApiDocument, { operation }: Located): Parameter[] {
	return (operation.parameters ?? []).map((parameter) => resolved<Parameter>(document, parameter));
}

function callOf(document: ApiDocument, located: Located): Call {
	const parameters = parametersOf(document, located);
	const shown = (place: Parameter['in']) =>
		parameters
			.filter((parameter) => parameter.in === place && !LEFT_OUT.includes(parameter.name))
			.map(({ name, example }) => [name, String(example)] as [string, string]);
	const path = shown('path').reduce((text, [name, value]) => text.replace(`{${name}}`, value), located.path);
	const query = new URLSearchParams(shown('query')).toString();
	const media = Object.values(located.operation.requestBody?.content ?? {})[0];
	return {
		method: located.method,
		url: `${document.servers[0]?.url ?? ''}${path}${query === '' ? '' : `?${query}`}`,
		headers: shown('header'),
		body: Object.values(media?.examples ?? {})[0]?.value
	};
}

/** All lines but the first, further in. */
export const indented = (text: string) => text.replaceAll('\n', '\n  ');

/** Text between single quotes of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A call for a shell; the key is in the environment. */
function curl({ method, url, headers, body }: Call): string {
	const isPlain = method === 'GET' || (method === 'POST' && body !== undefined);
	return [
		`curl ${isPlain ? '' : `-X ${method} `}${quoted(url)}`,
		'-H "Authorization: Bearer $AIRTILL_KEY"',
		...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
		...(body === undefined
			? []
			: ["-H 'Content-Type: application/json'", `-d ${quoted(indented(json(body)))}`])
	].join(' \\\n  ');
}

/** The name of a property where it may stand without quotes. */
const property = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`);

/** A value as one would write it. */
function literal(value: unknown): string {
	return json(value)
		.replace(/^(\s*)"(\w+)":/gm, '$1$2:')
		.replace(/"((?:[^"\\']|\\[^u"])*)"/g, "'$1'");
}

/** The same with fetch, for Node 22 and newer. */
function typescript({ method, url, headers, body }: Call): string {
	const all: [string, string][] = [
		['authorization', '`Bearer ${process.env.AIRTILL_KEY}`'],
		...(body === undefined ? [] : [['content-type', "'application/json'"] as [string, string]]),
		...headers.map(([name, value]) => [name.toLowerCase(), `'${value}'`] as [string, string])
	];
	const options = [
		...(method === 'GET' ? [] : [`method: '${method}'`]),
		`headers: {\n  ${all.map(([name, value]) => `${property(name)}: ${value}`).join(',\n  ')}\n}`,
		...(body === undefined ? [] : [`body: JSON.stringify(${literal(body)})`])
	];
	return [
		`const response = await fetch('${url}', {`,
		`  ${indented(options.join(',\n'))}`,
		'});',
		'const answer = await response.json();',
		'if (!response.ok) throw new Error(`${answer.code}: ${answer.detail}`);',
		'console.log(answer);'
	].join('\n');
}

export function callExamples(document: ApiDocument, located: Located): OperationView['calls'] {
	const call = callOf(document, located);
	return { curl: curl(call), typescript: typescript(call) };
}
