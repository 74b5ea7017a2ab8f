import { sql, type Selectable } from 'kysely';
import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import type { Queries } from '#lib/server/db/database.ts';
import { first } from '#lib/server/db/queries.ts';
import type { PaymentsTable, Schema } from '#lib/server/db/schema.ts';

export type FoundSession = Awaited<ReturnType<ReturnType<typeof ofOwner>['execute']>>[number];
export type FoundPayment = Selectable<PaymentsTable>;

/** Security: every read of a purchase begins here, so another owner's purchase is never found. */
const ofOwner = (queries: Queries, accountId: number) =>
	queries
		.selectFrom('sessions')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.selectAll('sessions')
		.select(['routers.name as router_name', 'routers.ssid as router_ssid', 'routers.unresponsive_since'])
		.where('routers.owner_account_id', '=', accountId);

/** Ways to identify a purchase; it matches if any of them does. */
export interface Clues {
	/** Last digits of the payer's number, four or more. */
	ending: string | null;
	paymentId: number;
	sessionIds: readonly number[];
	/** Spellings of the operator's transaction id. */
	transactions: readonly string[];
	/** All operators, because the index of transactions begins with them. */
	operators: readonly string[];
}

/** In ms since the epoch. */
export interface TimeRange {
	from: number;
	/** Exclusive. */
	to: number;
}

interface Page {
	accountId: number;
	span: TimeRange;
	limit: number;
}

export const search = (
	queries: Queries,
	{ ending, paymentId, sessionIds, transactions, operators }: Clues,
	page: Page
): Promise<FoundSession[]> => {
	const { span } = page;
	const matches = sql`
		select session_id from payments where substr(phone, length(phone) - 3) = ${ending?.slice(-4) ?? null}
			and phone like ${`%${ending ?? ''}`} and phone <> ${sql.lit(DELETED_NUMBER)} and created_at >= ${span.from} and created_at < ${span.to}
		union select session_id from payments where id = ${paymentId}
		union select session_id from payments where operator in (${sql.join(operators)})
			and provider_reference in (${sql.join(transactions)})
		union select id from sessions where id in (${sql.join([0, ...sessionIds])})`;
	return ofSpan(queries, page)
		.where(sql<boolean>`sessions.id in (${matches})`)
		.execute();
};

export const newest = (queries: Queries, page: Page): Promise<FoundSession[]> =>
	ofSpan(queries, page).execute();

const ofSpan = (queries: Queries, { accountId, span, limit }: Page) =>
	ofOwner(queries, accountId)
		.where('sessions.created_at', '>=', span.from)
		.where('sessions.created_at', '<', span.to)
		.orderBy('sessions.created_at', 'desc')
		.orderBy('sessions.id', 'desc')
		.limit(limit);

export const find = (queries: Queries, accountId: number, id: number) =>
	ofOwner(queries, accountId).where('sessions.id', '=', id).executeTakeFirst();

type Child = 'payments' | 'refunds' | 'reviews' | 'extra_time' | 'device_slots' | 'grants';

export const childrenOf = <Table extends Child>(
	queries: Queries,
	table: Table,
	column: keyof Schema[Table] & string,
	ids: readonly number[]
) =>
	queries
		.selectFrom(table as Child)
		.selectAll()
		.where(sql.ref(column), 'in', [0, ...ids])
		.orderBy('id')
		.execute() as Promise<unknown> as Promise<Selectable<Schema[Table]>[]>;

export const passTimes = (queries: Queries, passId: number) =>
	first(queries.selectFrom('passes').select(['activating_until', 'ends_at']).where('id', '=', passId));
