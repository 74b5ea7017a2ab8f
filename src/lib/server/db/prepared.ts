import type { CompiledQuery, Compilable } from 'kysely';
import type { Queries } from './database.ts';

/** Stands in a compiled query where a value comes. */
class Place {
	readonly index: number;

	constructor(index: number) {
		this.index = index;
	}
}

type Build<Row> = (places: readonly Place[]) => Compilable<Row>;

/** Runs queries that differ in their number of values, each of them compiled once for each database. */
function compiledOnce<Row>() {
	const known = new WeakMap<object, Map<number, CompiledQuery<Row>>>();

	function compile(count: number, build: Build<Row>): CompiledQuery<Row> {
		return build(Array.from({ length: count }, (_, index) => new Place(index))).compile();
	}

	return async (queries: Queries, values: readonly unknown[], build: Build<Row>): Promise<Row[]> => {
		// Transactions share the adapter of their database, which makes one per dialect and opening.
		const executor = queries.getExecutor();
		let ofDatabase = known.get(executor.adapter);
		if (!ofDatabase) known.set(executor.adapter, (ofDatabase = new Map()));
		let query = ofDatabase.get(values.length);
		if (!query) ofDatabase.set(values.length, (query = compile(values.length, build)));
		const parameters = query.parameters.map((value) =>
			value instanceof Place ? values[value.index] : value
		);
		const { rows } = await executor.executeQuery<Row>({ ...query, parameters });
		return rows;
	};
}

/**
 * A query that is built and compiled once for each database, and then only run with other values: for what every
 * request asks, because building one takes longer than SQLite needs to answer it.
 * @param build makes the query from values that it must pass on as they are: at this time they are only places
 */
export function prepared<Values extends readonly unknown[], Row>(
	build: (queries: Queries, ...values: Values) => Compilable<Row>
): (queries: Queries, ...values: Values) => Promise<Row[]> {
	const run = compiledOnce<Row>();
	return (queries, ...values) =>
		run(queries, values, (places) => build(queries, ...(places as unknown as Values)));
}

/** Lists that are longer have a query made each time, so that there are at most so many. */
const MAX_LISTED = 200;

/** The same with one list of values, such as that behind `in`: for each length of the list it is compiled once. */
export function preparedList<Value, Row>(
	build: (queries: Queries, values: readonly Value[]) => Compilable<Row>
): (queries: Queries, values: readonly Value[]) => Promise<Row[]> {
	const run = compiledOnce<Row>();
	return async (queries, values) => {
		if (values.length <= MAX_LISTED)
			return run(queries, values, (places) => build(queries, places as unknown as Value[]));
		const { rows } = await queries.getExecutor().executeQuery<Row>(build(queries, values).compile());
		return rows;
	};
}
