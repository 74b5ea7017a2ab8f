/**
 * Reads the bodies of operators: responses and callbacks alike. Proxies between them and us rewrite bodies, so what is in one
 * counts, not its content type: JSON with anything around it (byte order marks, NUL, line ends, a second copy), JSON in a form
 * or in a string, or the fields of a form. Returns null for the rest.
 */
export function jsonOf(text: string): unknown {
	// JSON has none of these in a string, and may have blanks around it.
	const plain = text.replace(CONTROLS, ' ').trim();
	const whole = parsed(plain);
	if (whole !== undefined) return typeof whole === 'string' ? jsonOf(whole) : whole;
	// HTML may hold anything.
	if (plain.startsWith('<')) return null;
	const inside = firstObject(plain);
	return (inside === null ? formOf(plain) : parsed(inside)) ?? null;
}

export function jsonObject(text: string): Record<string, unknown> | null {
	const value = jsonOf(text);
	const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
	return isObject(one) ? one : null;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** C0 and the byte order mark. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\ufeff]/g;

function parsed(text: string): unknown {
	try {
		return JSON.parse(text, exact);
	} catch {
		return undefined;
	}
}

/** Keeps the digits of an id of 64 bits, which a number would round. */
const exact = (_name: string, value: unknown, context?: { source?: string }): unknown =>
	typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
		? context?.source
		: value;

/** Strings, of which the last may have no end, and brackets. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|[[\]{}]/g;

/** Returns the text of the first object or list, whatever is around it; null if none is whole. */
function firstObject(text: string): string | null {
	const start = text.search(/[[{]/);
	let depth = 0;
	for (const { 0: sign, index } of text.slice(Math.max(0, start)).matchAll(TOKENS)) {
		if (sign === '{' || sign === '[') depth += 1;
		else if (sign === '}' || sign === ']') depth -= 1;
		if (depth === 0) return text.slice(start, start + index + 1);
	}
	return null;
}

/** The fields of a form, with those of an object that it holds as a value or as a name. */
function formOf(text: string): Record<string, unknown> | null {
	if (!/^[^\s={}<>]*(=|%7B)/i.test(text)) return null;
	const fields = [...new URLSearchParams(text)];
	const held = fields.flat().map(parsed).find(isObject);
	return { ...held, ...Object.fromEntries(fields.map(([name, value]) => [name, parsed(value) ?? value])) };
}

export function member(object: unknown, name: string): Record<string, unknown> {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns a text or a number as text, without blanks around it; null if there is none. */
export function textMember(object: unknown, name: string): string | null {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' ? value.replaceAll('\0', '').trim() || null : null;
}

/**
 * True for a refusal as HTML, which no operator writes: a proxy does, and it says nothing about what the operator did.
 * Access is refused before (401, 403).
 */
export const isForeignRefusal = ({ status, text }: { status: number; text: string }): boolean =>
	[400, 404, 405, 415].includes(status) && text.trimStart().startsWith('<');

export const httpText = (status: number, text: string): string => `HTTP ${status} ${text}`.trim();

/** Returns the seconds of Retry-After, at most an hour; null for other forms. */
export function retryAfterSeconds(headers: Record<string, string>): number | null {
	const seconds = Number(headers['retry-after'] ?? NaN);
	return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3_600) : null;
}

/** Keeps unaccented letters, digits and ` .,-`, because operators refuse other signs; `refused` matches more. */
export const plainText = (text: string, length: number, refused = /[^A-Za-z0-9 .,-]+/g): string =>
	text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.replace(refused, ' ')
		.replace(/ +/g, ' ')
		.trim()
		.slice(0, length)
		.trim();
