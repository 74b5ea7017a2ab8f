import type { RequestEvent } from '@sveltejs/kit';

const PAGE_SIZE = 50;

/** Reads an id from an address. Returns 0 if it is invalid. */
export const idOf = (text: string | null | undefined): number =>
	/^\d{1,15}$/.test(text ?? '') ? Number(text) : 0;

/**
 * Returns null on the first and on the last page.
 * @param parameter the query parameter that holds a position
 * @param at position of this page; null for the first
 * @param next position of the next page; null after the last
 * @param anchor the list in a page that has more than the list
 */
export function pageLinks(
	path: string,
	filters: Readonly<Record<string, string | number | null>>,
	{
		parameter,
		at,
		next,
		anchor = ''
	}: { parameter: string; at: unknown; next: string | number | null; anchor?: `#${string}` | '' }
): { first: string | null; next: string | null } {
	const address = (more: [string, string][]) => {
		const kept = Object.entries(filters).flatMap(([name, value]) =>
			value === null ? [] : [[name, `${value}`]]
		);
		return `${path}?${new URLSearchParams([...kept, ...more]).toString()}${anchor}`;
	};
	return {
		first: at === null ? null : address([]),
		next: next === null ? null : address([[parameter, String(next)]])
	};
}

/** Reads a page of a list whose position is the id of the row before it. */
export async function pageById<Row extends { id: number }>(
	{ url }: Pick<RequestEvent, 'url'>,
	parameter: string,
	filters: Parameters<typeof pageLinks>[1],
	read: (at: number | null, limit: number) => Promise<readonly Row[]>
) {
	const at = idOf(url.searchParams.get(parameter)) || null;
	// One extra row shows whether there is another page.
	const found = await read(at, PAGE_SIZE + 1);
	const rows = found.slice(0, PAGE_SIZE);
	const next = found.length > PAGE_SIZE ? (rows.at(-1)?.id ?? null) : null;
	return { rows, pages: pageLinks(url.pathname, filters, { parameter, at, next }) };
}
