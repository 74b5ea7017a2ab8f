import type { App } from '#lib/server/app.ts';
import type { ApiContext } from '../env.ts';
import type { SortValues } from '#lib/server/platform/cursor.ts';

interface ListCall {
	app: App;
	query: { cursor?: string | undefined };
	context: ApiContext;
}

/** Reads a page from the position of the cursor, which fits these filters only, and links the next page. */
export async function listPage<
	P extends { data: unknown[]; next: SortValues | null },
	Id extends number | string = number
>(
	{ app, query: { cursor }, context }: ListCall,
	filters: readonly unknown[],
	read: (after: SortValues<Id> | null) => Promise<P>
) {
	const found = await read(cursor === undefined ? null : app.cursors.decode<Id>(cursor, filters));
	const next_cursor = found.next && app.cursors.encode(found.next, filters);
	const page: { data: P['data']; has_more: boolean; next_cursor: string | null } = {
		data: found.data,
		has_more: next_cursor !== null,
		next_cursor
	};
	return { page, headers: nextLink(context.req.url, next_cursor) };
}

/** RFC 8288; relative to the request. */
function nextLink(url: string, cursor: string | null): Record<string, string> {
	if (cursor === null) return {};
	const next = new URL(url).searchParams;
	next.set('cursor', cursor);
	return { link: `<?${next}>; rel="next"` };
}
