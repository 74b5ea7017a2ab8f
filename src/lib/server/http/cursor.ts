import { z } from 'zod';
import { AppError } from '../errors.ts';
import { sha256 } from '../secrets.ts';

/**
 * An opaque place in a list: base64url of the last row's sort values and a fingerprint of the filters, so that
 * a cursor is refused with other filters than it was made for.
 */
const shape = z.strictObject({ v: z.literal(1), k: z.tuple([z.number(), z.number()]), f: z.string().length(16) });

const fingerprint = (filters: readonly unknown[]) => sha256(JSON.stringify(filters)).slice(0, 16);

export function encodeCursor(sortValues: readonly [number, number], filters: readonly unknown[]): string {
	return Buffer.from(JSON.stringify({ v: 1, k: sortValues, f: fingerprint(filters) })).toString('base64url');
}

/**
 * Sort values of a cursor: the value that orders the list, and the id.
 * @throws AppError `invalid_cursor` when it was tampered with or made for other filters
 */
export function decodeCursor(cursor: string, filters: readonly unknown[]): [number, number] {
	const invalid = () => new AppError('invalid_cursor', 'Use next_cursor of the previous page, with the same filters.');
	if (!/^[A-Za-z0-9_-]+$/.test(cursor)) throw invalid();
	let content: unknown;
	try {
		content = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
	} catch {
		throw invalid();
	}
	const parsed = shape.safeParse(content);
	if (!parsed.success || parsed.data.f !== fingerprint(filters)) throw invalid();
	return parsed.data.k;
}
