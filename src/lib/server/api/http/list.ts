import type { Cursors, SortValues } from './cursor.ts';

/** The envelope of every list, from a page and the filters that its cursor is bound to. */
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

/** `Link` header to the next page (RFC 8288), relative to the request. */
export function nextLink(search: URLSearchParams, cursor: string | null): Record<string, string> {
	if (cursor === null) return {};
	const next = new URLSearchParams(search);
	next.set('cursor', cursor);
	return { link: `<?${next}>; rel="next"` };
}
