import type { CompiledQuery, Compilable } from 'kysely';
import type { Queries } from './database.ts';

/** Stands in a compiled query where a value comes. */
class Place {
	readonly index: number;

	constructor(index: number) {
		this.index = index;
	}
}

/**
 * A query that is built and compiled once for each database, and then only run with other values: for what every
 * request asks, because building one takes longer than SQLite needs to answer it.
 * @param build makes the query from values that it must pass on as they are: at this time they are only places
 */
export function prepared<Values extends readonly unknown[], Row>(
	build: (queries: Queries, ...values: Values) => Compilable<Row>
): (queries: Queries, ...values: Values) => Promise<Row[]> {
	const compiled = new WeakMap<object, CompiledQuery<Row>>();

	function compile(queries: Queries): CompiledQuery<Row> {
		const places = Array.from({ length: build.length - 1 }, (_, index) => new Place(index));
		return build(queries, ...(places as unknown as Values)).compile();
	}

	return async (queries, ...values) => {
		// Transactions share the adapter of their database, which makes one per dialect and opening.
		const executor = queries.getExecutor();
		let query = compiled.get(executor.adapter);
		if (!query) {
			query = compile(queries);
			compiled.set(executor.adapter, query);
		}
		const parameters = query.parameters.map((value) =>
			value instanceof Place ? values[value.index] : value
		);
		const { rows } = await executor.executeQuery<Row>({ ...query, parameters });
		return rows;
	};
}
