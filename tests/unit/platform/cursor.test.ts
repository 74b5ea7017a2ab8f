import { describe, expect, it } from 'vitest';
import { createCursors } from '#lib/server/platform/cursor.ts';
import { createSecrets } from '#lib/server/platform/secrets.ts';

const cursors = createCursors(createSecrets('a secret of at least 32 characters'));
const filters = ['routers', 0.3476, 32.5825, 1000];

const refused = (cursor: string, given: readonly unknown[] = filters) =>
	expect(() => cursors.decode(cursor, given), cursor).toThrow(
		expect.objectContaining({ reason: 'invalid_cursor' })
	);

describe('a cursor', () => {
	it.each([
		[0, 1],
		[1084.0801275519113, 12],
		[1e-7, 2 ** 53 - 1],
		[50_000, 3]
	])('comes back as it was: %d, %d', (value, id) => {
		const cursor = cursors.encode([value, id], filters);
		expect(cursor).toMatch(/^[\w-]+$/);
		expect(cursors.decode(cursor, filters)).toEqual([value, id]);
	});

	it('is refused with one bit changed anywhere that means something', () => {
		const cursor = cursors.encode([1084.08, 12], filters);
		const bytes = Buffer.from(cursor, 'base64url');
		for (let at = 0; at < bytes.length; at += 1) {
			for (const bit of [1, 4, 32]) {
				const changed = Buffer.from(bytes);
				changed[at] = (changed[at] ?? 0) ^ bit;
				refused(changed.toString('base64url'));
			}
		}
	});

	it('is refused with other filters, or when another installation made it', () => {
		const cursor = cursors.encode([5, 6], filters);
		refused(cursor, ['routers', 0.3476, 32.5825, 1001]);
		refused(cursor, ['sessions', 0.3476, 32.5825, 1000]);
		refused(cursor, []);
		refused(createCursors(createSecrets('another secret of 32 characters..')).encode([5, 6], filters));
	});

	it('is refused when it is something else', () => {
		const seal = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
		const { f } = JSON.parse(Buffer.from(cursors.encode([5, 6], filters), 'base64url').toString()) as {
			f: string;
		};
		for (const content of [
			null,
			[],
			{ v: 1, k: [5, 6] },
			{ v: 2, k: [5, 6], f },
			{ v: 1, k: [5, 7], f },
			{ v: 1, k: [5, 6, 7], f },
			{ v: 1, k: ['5', 6], f },
			{ v: 1, k: [5, 6], f, x: 1 },
			{ v: 1, k: [5, 6], f: '' }
		]) {
			refused(seal(content));
		}
		for (const text of ['', '%', ' ', 'a b', 'ä', 'x'.repeat(100_000)]) refused(text);
	});
});
