import type { z } from 'zod';
import { ITEM_CODES, type ProblemItem } from '../contract/problems.ts';
import { AppError, validationFailed } from '#lib/server/platform/errors.ts';
import type { ApiRequest } from './api-call.ts';

/** Untyped input is parsed here, once, at the edge. Every problem names the field and the reason. */

export const MAX_BODY_BYTES = 16 * 1024;

type Place = ProblemItem['in'];

/** RFC 6901: `~` and `/` inside a name are escaped. */
const pointer = (path: readonly PropertyKey[]) =>
	path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function itemsOf(place: Place, issue: z.core.$ZodIssue): ProblemItem[] {
	const at = (code: ProblemItem['code'], detail: string): ProblemItem[] => [
		{ in: place, pointer: pointer(issue.path), code, detail }
	];
	switch (issue.code) {
		case 'unrecognized_keys':
			return issue.keys.map((key) => ({
				in: place,
				pointer: pointer([...issue.path, key]),
				code: 'unknown_field',
				detail: 'This field is not known here.'
			}));
		case 'invalid_type':
			return issue.input === undefined
				? at('required', 'This field is required.')
				: at('invalid_type', `Use ${withArticle(issue.expected)}.`);
		case 'too_small':
			return at('out_of_range', `Use at least ${issue.minimum}.`);
		case 'too_big':
			return at('out_of_range', `Use at most ${issue.maximum}.`);
		case 'invalid_value':
			// Every list of values here is one of texts.
			if (typeof issue.input !== 'string') return at('invalid_type', 'Use a string.');
			return at('unknown_value', `Use one of ${issue.values.map(String).join(', ')}.`);
		case 'custom': {
			const code = ITEM_CODES.find((known) => known === issue.params?.item) ?? 'invalid_format';
			return at(code, issue.message);
		}
		default:
			return at('invalid_format', issue.message);
	}
}

const withArticle = (type: string) => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

/** @throws AppError `validation_failed` with one item for each problem */
export function parse<S extends z.ZodType>(schema: S, input: unknown, place: Place): z.output<S> {
	const result = schema.safeParse(input, { reportInput: true });
	if (result.success) return result.data;
	throw validationFailed(result.error.issues.flatMap((issue) => itemsOf(place, issue)));
}

/**
 * Query parameters: unknown ones are ignored, a known one may stand there once.
 * @throws AppError `validation_failed`
 */
export function parseQuery<S extends z.ZodType>(schema: S, query: URLSearchParams): z.output<S> {
	const shape = 'shape' in schema && typeof schema.shape === 'object' ? (schema.shape ?? {}) : {};
	const present: Record<string, string> = {};
	const repeated = new Set<string>();
	for (const [name, value] of query) {
		if (!Object.hasOwn(shape, name)) continue;
		if (Object.hasOwn(present, name)) repeated.add(name);
		else present[name] = value;
	}
	if (repeated.size > 0) {
		const names = Object.keys(shape).filter((name) => repeated.has(name));
		throw validationFailed(
			names.map((name) => ({
				in: 'query',
				pointer: pointer([name]),
				code: 'duplicate',
				detail: 'Send this parameter once.'
			}))
		);
	}
	return parse(schema, present, 'query');
}

/**
 * The text of a request's body that says it is JSON, and is not packed.
 * @throws AppError `unsupported_media_type | body_too_large | invalid_json`
 */
export async function readJsonText(request: ApiRequest): Promise<string> {
	const type = request.header('content-type') ?? '';
	if (!/^\s*application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type)) {
		throw new AppError(
			'unsupported_media_type',
			'Send JSON with the header "Content-Type: application/json".'
		);
	}
	const encoding = request.header('content-encoding')?.trim() ?? '';
	if (!/^(identity)?$/i.test(encoding)) {
		throw new AppError(
			'unsupported_media_type',
			'Send the body as it is, without the header "Content-Encoding": nothing is unpacked here.'
		);
	}
	return decodeUtf8(await request.readBody(MAX_BODY_BYTES));
}

/**
 * What a body says, whatever it is.
 * @throws AppError `invalid_json`
 */
export function readJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		throw new AppError('invalid_json', 'The body is not valid JSON.');
	}
}

/**
 * Parses a body, which must be an object.
 * @throws AppError `validation_failed`
 */
export function parseObject<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
	if (typeof input !== 'object' || input === null || Array.isArray(input)) {
		throw validationFailed([{ in: 'body', pointer: '', code: 'invalid_type', detail: 'Use a JSON object.' }]);
	}
	return parse(schema, input, 'body');
}

function decodeUtf8(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		throw new AppError('invalid_json', 'The body is not valid UTF-8.');
	}
}

/**
 * A body of at most `maxBytes`; nothing beyond is read.
 * @throws AppError `body_too_large`
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
	if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	const reader = request.body.getReader();
	for (;;) {
		const { done, value } = await reader.read().catch(unread);
		if (done) break;
		length += value.length;
		if (length > maxBytes) throw tooLarge(maxBytes);
		chunks.push(value);
	}
	return Buffer.concat(chunks);
}

const tooLarge = (maxBytes: number) => new AppError('body_too_large', `Send at most ${maxBytes} bytes.`);
/** A body whose sender went away, or did not keep to its own framing: its mistake, nothing for the log. */
const brokeOff = () => new AppError('invalid_json', 'The body broke off.');

/** adapter-node's own limit (BODY_SIZE_LIMIT) shows as an error while the body is read. */
function unread(error: unknown): never {
	const isTooLarge = typeof error === 'object' && error !== null && 'status' in error && error.status === 413;
	throw isTooLarge ? new AppError('body_too_large', 'The body is too large.') : brokeOff();
}

const IDEMPOTENCY_KEY = /^[A-Za-z0-9_:.-]{1,255}$/;

/**
 * The `Idempotency-Key` of a request, bare or as a quoted string; null when there is none.
 * @throws AppError `validation_failed`
 */
export function parseIdempotencyKey(request: ApiRequest): string | null {
	const sent = request.header('idempotency-key');
	if (sent === null) return null;
	const key = /^"(.*)"$/.exec(sent)?.[1] ?? sent;
	if (IDEMPOTENCY_KEY.test(key)) return key;
	throw validationFailed([
		{
			in: 'header',
			pointer: '/Idempotency-Key',
			code: 'invalid_format',
			detail: 'Use 1 to 255 letters, digits and the characters "_", "-", ":", ".".'
		}
	]);
}
