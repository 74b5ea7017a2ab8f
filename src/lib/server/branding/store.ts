import { sql, type Selectable } from 'kysely';
import type { Database, Queries } from '#lib/server/db/database.ts';
import type { BrandsTable } from '#lib/server/db/schema.ts';

export type BrandRow = Omit<Selectable<BrandsTable>, 'logo_data'>;

const COLUMNS = sql.raw(
	'subject, account_id, router_id, name, contact, accent, logo_file, logo_width, logo_height, updated_at, updated_by'
);

/** Every list of routers reads brands. One parameter, so that one statement fits any number of subjects. */
export async function find(
	kind: Database['kind'],
	queries: Queries,
	subjects: readonly string[]
): Promise<BrandRow[]> {
	if (subjects.length === 0) return [];
	const wanted =
		kind === 'sqlite'
			? sql`in (select value from json_each(${JSON.stringify(subjects)}))`
			: sql`= any(${subjects})`;
	const { rows } = await sql<BrandRow>`select ${COLUMNS} from brands where subject ${wanted}`.execute(
		queries
	);
	return rows;
}

export async function save(
	queries: Queries,
	brand: Pick<BrandRow, 'subject' | 'account_id' | 'router_id' | 'updated_at' | 'updated_by'> &
		Partial<Selectable<BrandsTable>>
): Promise<void> {
	const { subject, ...change } = brand;
	await queries
		.insertInto('brands')
		.values({ subject, ...change })
		.onConflict((conflict) => conflict.column('subject').doUpdateSet(change))
		.execute();
}

/** Returns the bytes in base64. */
export async function logo(queries: Queries, file: string): Promise<string | null> {
	const row = await queries
		.selectFrom('brands')
		.select('logo_data')
		.where('logo_file', '=', file)
		.limit(1)
		.executeTakeFirst();
	return row?.logo_data ?? null;
}
