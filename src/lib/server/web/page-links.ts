import type { RequestEvent } from '@sveltejs/kit';
import { parseId } from '#lib/domain/text.ts';

export const PAGE_SIZE = 50;

/** Reads an id from an address. Returns 0 if it is invalid. */
export const idOf = (text: string | null | undefined): number => parseId(text ?? '') ?? 0;

/** Numbers of the last row of a page, where the next page goes on. */
type Position<Length> = Length extends 3
	? readonly [number, number, number]
	: Length extends 2
		? readonly [number, number]
		: number;

interface List<Length> {
	/** The query parameter that holds a position, such as `17.3`. An invalid one is the first page. */
	parameter: string;
	length: Length;
	filters?: Readonly<Record<string, string | number | null>>;
	/** The list in a page that has more than the list. */
	anchor?: `#${string}`;
}

/** Reads a page of a list, and links to the first page and to the next one: null there, and on the last. */
export async function readPage<
	const Length extends 1 | 2 | 3,
	Page extends { next: Position<Length> | null }
>(
	{ url }: Pick<RequestEvent, 'url'>,
	{ parameter, length, filters = {}, anchor }: List<Length>,
	read: (at: Position<Length> | null) => Promise<Page>
) {
	const text = url.searchParams.get(parameter) ?? '';
	const numbers = text.split('.').map((one) => parseId(one) ?? NaN);
	const isPosition = numbers.length === length && !numbers.includes(NaN);
	const at = isPosition ? ((length === 1 ? numbers[0] : numbers) as Position<Length>) : null;
	const page = await read(at);
	const given = Object.entries(filters).flatMap(([name, value]) =>
		value === null ? [] : [[name, String(value)]]
	);
	const address = (more: string[][]) =>
		`${url.pathname}?${new URLSearchParams([...given, ...more]).toString()}${anchor ?? ''}`;
	return {
		...page,
		pages: {
			first: at === null ? null : address([]),
			next: page.next === null ? null : address([[parameter, [page.next].flat().join('.')]])
		}
	};
}

/** Reads a page of a list whose position is the id of the row before it. */
export const pageById = <Row extends { id: number }>(
	event: Pick<RequestEvent, 'url'>,
	parameter: string,
	filters: NonNullable<List<1>['filters']>,
	read: (at: number | null, limit: number) => Promise<readonly Row[]>
) =>
	readPage(event, { parameter, length: 1, filters }, async (at) => {
		// One extra row shows whether there is another page.
		const found = await read(at, PAGE_SIZE + 1);
		return {
			rows: found.slice(0, PAGE_SIZE),
			next: found.at(PAGE_SIZE) ? (found[PAGE_SIZE - 1]?.id ?? null) : null
		};
	});
