import { sql } from 'kysely';
import type { Base } from './base.ts';
import { API_VERSION, type EventBody, type EventType } from './contract/webhooks.ts';
import { type Tx, afterCommit } from './db/database.ts';
import { holdsEverything } from './db/locks.ts';
import { type NewestFirst, findNewestFirst } from './db/queries.ts';
import { isoTime } from './platform/clock.ts';
import { eventId } from './platform/secrets.ts';

export type { EventType };

interface NewEvent {
	type: EventType;
	accountId: number;
	routerId: number;
	sessionId: number;
	paymentId: number | null;
	/** The API object after the change, without the password. */
	data: object;
}

export interface RecordedEvent extends NewEvent {
	/** `evt_<ULID>` */
	id: string;
	createdAt: number;
}

export interface Envelope {
	id: string;
	type: string;
	createdAt: number;
	data: object;
}

/** The order of the keys is that of the examples in the documentation. */
export const eventBody = ({ id, type, createdAt, data }: Envelope) => ({
	...{ id, type, timestamp: isoTime(createdAt), api_version: API_VERSION, data }
});

export type Events = ReturnType<typeof createEvents>;

/** @param publish tells the recipients, in the transaction of the event */
export const createEvents = (
	{ database, clock, metrics }: Base,
	publish: (trx: Tx, event: RecordedEvent) => Promise<void>
) => ({
	/** Lists the events of an account's sessions and payments, newest first, while their data is kept. */
	async list({ accountId }: { accountId: number }, page: NewestFirst<string>) {
		const query = database.db
			.selectFrom('events')
			.select(['id', 'type', 'data', 'created_at'])
			.where('account_id', '=', accountId)
			// A literal, so that SQLite uses the partial index events_account.
			.where(sql<boolean>`data <> '{}'`);
		const { rows, next } = await findNewestFirst(query, page);
		const data = rows.map(
			({ id, type, created_at, data: stored }) =>
				eventBody({ id, type, createdAt: created_at, data: JSON.parse(stored) as object }) as EventBody
		);
		return { data, next };
	},
	/** Records and publishes in the transaction of the state change: no event is lost or invented. */
	async record(trx: Tx, event: NewEvent): Promise<void> {
		const recorded = { ...event, id: eventId(), createdAt: clock.now() };
		const row = {
			id: recorded.id,
			type: event.type,
			account_id: event.accountId,
			router_id: event.routerId,
			session_id: event.sessionId,
			payment_id: event.paymentId,
			data: JSON.stringify(event.data),
			created_at: recorded.createdAt
		};
		// Read with the insert: most events have no recipients.
		const endpoints = selectRecipients(trx, event).select(({ fn }) => fn.countAll().as('count'));
		const count = sql<number>`(${endpoints})`.as('recipients');
		// Citus takes no subquery in an insert, and SQLite no insert in a query.
		const { recipients } = holdsEverything(trx)
			? await trx.insertInto('events').values(row).returning(count).executeTakeFirstOrThrow()
			: await trx
					.with('added', (db) => db.insertInto('events').values(row).returning('id'))
					.selectFrom('added')
					.select(count)
					.executeTakeFirstOrThrow();
		if (recipients > 0) await publish(trx, recorded);
		const [stage = '', outcome = ''] = event.type.split('.');
		afterCommit(trx, () => metrics.count('airtill_purchases_total', { stage, outcome }));
	}
});

/** Selects the endpoints of the account that caused the event and of the router's owner. */
export const selectRecipients = (trx: Tx, event: Pick<NewEvent, 'type' | 'accountId' | 'routerId'>) =>
	trx
		.selectFrom('webhook_endpoints')
		.where((where) =>
			where.or([
				where('account_id', '=', event.accountId),
				where(
					'account_id',
					'=',
					where.selectFrom('routers').select('owner_account_id').where('routers.id', '=', event.routerId)
				)
			])
		)
		// Event names are quoted in the JSON and contain no wildcard of LIKE.
		.where('events', 'like', `%"${event.type}"%`);
