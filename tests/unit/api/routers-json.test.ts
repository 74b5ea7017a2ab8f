import { expect, test } from 'vitest';
import type { RouterListBody } from '#lib/server/contract/router.ts';
import { formatRoutersJson } from '#lib/server/api/routers.ts';

test('a list is written as JSON.stringify writes it, whatever its strings hold', () => {
	const offers = [{ id: 1, name: 'Day "offers":[] \\' }];
	const router = (name: string, listed: unknown[]) => ({ id: 1, name, offers: listed, status: 'online' });
	const data = [router('"offers":[]', offers), router('\\"offers":[]\\', []), router('"', offers)];
	const list = { data, radius: 500 } as unknown as RouterListBody;
	expect(formatRoutersJson(list)).toBe(JSON.stringify(list));
	expect(formatRoutersJson({ ...list, data: [] })).toBe(JSON.stringify({ ...list, data: [] }));
});
