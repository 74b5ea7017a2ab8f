export function jsonOf(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

export function jsonObject(text: string): Record<string, unknown> | null {
	const value = jsonOf(text);
	const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
	return isObject ? (value as Record<string, unknown>) : null;
}

export function member(object: unknown, name: string): Record<string, unknown> {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function textMember(object: unknown, name: string): string | null {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	if (typeof value === 'string') return value;
	return typeof value === 'number' ? String(value) : null;
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
