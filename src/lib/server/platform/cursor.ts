import { createSecretKey } from 'node:crypto';
import { z } from 'zod';
import { equalSecrets, hmac, type Secrets } from '#lib/server/platform/secrets.ts';
import { Refused } from '#lib/server/platform/errors.ts';

export type SortValues<Id = number | string> = readonly [number, Id];

const shape = z.strictObject({
	v: z.literal(1),
	k: z.tuple([z.number(), z.union([z.number(), z.string()])]),
	f: z.string()
});

const MAX_LENGTH = 512;
const KEY_BYTES = 32;

/**
 * Creates opaque list positions: base64url of the last row's sort values, its id and a signature.
 * The signature covers the filters, so a changed cursor or one used with other filters is refused.
 */
export function createCursors(secrets: Secrets) {
	const keys = secrets.deriveAll('cursor', KEY_BYTES).map((key) => createSecretKey(key));
	const signatures = (sortValues: SortValues, filters: readonly unknown[]) =>
		keys.map((key) => hmac(key, JSON.stringify([sortValues, filters])).slice(0, 22));

	function read(cursor: string) {
		if (cursor.length > MAX_LENGTH) return null;
		const bytes = Buffer.from(cursor, 'base64url');
		// Several texts decode to the same bytes. One of them was made here.
		if (bytes.toString('base64url') !== cursor) return null;
		try {
			return shape.parse(JSON.parse(bytes.toString('utf8')));
		} catch {
			return null;
		}
	}

	return {
		encode: (sortValues: SortValues, filters: readonly unknown[]) =>
			Buffer.from(JSON.stringify({ v: 1, k: sortValues, f: signatures(sortValues, filters)[0] })).toString(
				'base64url'
			),
		/** `filters` name the list and with it the type of its ids. @throws Refused `invalid_cursor` */
		decode<Id extends number | string = number>(cursor: string, filters: readonly unknown[]): SortValues<Id> {
			const content = read(cursor);
			if (!content || !signatures(content.k, filters).some((one) => equalSecrets(content.f, one))) {
				throw new Refused('invalid_cursor');
			}
			return content.k as SortValues<number | string> as SortValues<Id>;
		}
	};
}
