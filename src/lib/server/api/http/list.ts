import type { Cursors, SortValues } from './cursor.ts';

export function listBody<T>(
	cursors: Cursors,
	page: { data: T[]; next: SortValues | null },
	filters: readonly unknown[]
): { data: T[]; has_more: boolean; next_cursor: string | null } {
	return {
		data: page.data,
		has_more: page.next !== null,
		next_cursor: page.next && cursors.encode(page.next, filters)
	};
}

/** RFC 8288; relative to the request. */
export function nextLink(url: string, cursor: string | null): Record<string, string> {
	if (cursor === null) return {};
	const next = new URL(url).searchParams;
	next.set('cursor', cursor);
	return { link: `<?${next}>; rel="next"` };
}
