import { sql, type Selectable, type Updateable } from 'kysely';
import type { Queries, Reads } from '#lib/server/db/database.ts';
import type { AlertChannelsTable } from '#lib/server/db/schema.ts';

export type ChannelRow = Selectable<AlertChannelsTable>;
type Own = Pick<ChannelRow, 'account_id' | 'channel'>;

export const ofAccount = (queries: Queries, accountId: number) =>
	queries.selectFrom('alert_channels').selectAll().where('account_id', '=', accountId).execute();

/** Creates the channel, or replaces its address, which must then be confirmed. */
export const setAddress = (
	queries: Queries,
	own: Own,
	to: Pick<ChannelRow, 'address' | 'locale' | 'code_hash' | 'code_until'>
) => {
	const values = { ...to, confirmed_at: null, code_tries: 0 };
	return queries
		.insertInto('alert_channels')
		.values({ ...own, ...values })
		.onConflict((conflict) => conflict.columns(['account_id', 'channel']).doUpdateSet(values))
		.returningAll()
		.executeTakeFirstOrThrow();
};

export const change = (queries: Queries, id: number, to: Updateable<AlertChannelsTable>) =>
	queries.updateTable('alert_channels').set(to).where('id', '=', id).execute();

export const remove = (queries: Queries, own: Own) =>
	queries
		.deleteFrom('alert_channels')
		.where(({ and }) => and(own))
		.execute();

/** Channels that get an event: confirmed, and of an account that is not suspended. */
const channelsFor = (queries: Reads, event: string) =>
	queries
		.selectFrom('alert_channels')
		.innerJoin('accounts', 'accounts.id', 'alert_channels.account_id')
		.where('accounts.status', '=', 'active')
		.where('alert_channels.confirmed_at', 'is not', null)
		// Event names are quoted in the JSON and contain no wildcard of LIKE.
		.where('alert_channels.events', 'like', `%"${event}"%`);

/** Gateways that stopped responding before a moment, without an alert yet, by channel. */
export const unresponsiveGateways = (queries: Reads, before: number) =>
	channelsFor(queries, 'gateway')
		.innerJoin('routers', 'routers.owner_account_id', 'accounts.id')
		.innerJoin('gateways', 'gateways.router_id', 'routers.id')
		.selectAll('alert_channels')
		.select(['gateways.id as gateway_id', 'routers.name as router', 'gateways.name as gateway'])
		.select('gateways.unresponsive_since as since')
		.where('routers.disabled_at', 'is', null)
		.where('gateways.seen_at', 'is not', null)
		.where('gateways.unresponsive_since', '<=', before)
		.where(({ not, exists, selectFrom }) =>
			not(
				exists(
					selectFrom('alert_outages')
						.select('since')
						.whereRef('alert_channel_id', '=', 'alert_channels.id')
						.whereRef('gateway_id', '=', 'gateways.id')
				)
			)
		)
		.orderBy('gateways.unresponsive_since')
		.execute();

/** Gateways with an outage alert that respond again, by channel. */
export const respondingGateways = (queries: Reads) =>
	channelsFor(queries, 'gateway')
		.innerJoin('alert_outages', 'alert_outages.alert_channel_id', 'alert_channels.id')
		.innerJoin('gateways', 'gateways.id', 'alert_outages.gateway_id')
		.innerJoin('routers', 'routers.id', 'gateways.router_id')
		.selectAll('alert_channels')
		.select(['gateways.id as gateway_id', 'routers.name as router', 'gateways.name as gateway'])
		.select('alert_outages.since')
		.whereRef('routers.owner_account_id', '=', 'alert_channels.account_id')
		.where('gateways.unresponsive_since', 'is', null)
		.orderBy('gateways.id')
		.execute();

export const addOutage = (
	queries: Queries,
	{ id, gateway_id, since }: { id: number; gateway_id: number; since: number }
) => queries.insertInto('alert_outages').values({ alert_channel_id: id, gateway_id, since }).execute();

export const endOutage = (queries: Queries, { id, gateway_id }: { id: number; gateway_id: number }) =>
	queries
		.deleteFrom('alert_outages')
		.where('alert_channel_id', '=', id)
		.where('gateway_id', '=', gateway_id)
		.execute();

export const forgetOutages = (queries: Queries, id: number) =>
	queries.deleteFrom('alert_outages').where('alert_channel_id', '=', id).execute();

export const withoutEarningsOf = (queries: Reads, day: string) =>
	channelsFor(queries, 'earnings')
		.selectAll('alert_channels')
		.where(({ or, eb }) => or([eb('earnings_day', 'is', null), eb('earnings_day', '<', day)]))
		.orderBy('alert_channels.id')
		.execute();

/** Channels of administrators with reviews that are open since before a moment, the newest of them without an alert. */
export const waitingReviews = (queries: Reads, before: number) =>
	channelsFor(queries, 'reviews')
		.innerJoin('reviews', (join) =>
			join.on('reviews.resolved_at', 'is', null).on('reviews.opened_at', '<=', before)
		)
		.where('accounts.role', '=', 'admin')
		.selectAll('alert_channels')
		.select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('reviews.id').as('newest')])
		.groupBy('alert_channels.id')
		.having(sql<boolean>`max(reviews.id) > alert_channels.review_id`)
		.execute();
