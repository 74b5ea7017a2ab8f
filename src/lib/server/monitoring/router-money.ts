import type { Queries } from '#lib/server/db/database.ts';

/** Reads a router's newest payments of purchases, newest purchase first. */
export const newestPayments = (queries: Queries, routerId: number, limit: number) =>
	queries
		.selectFrom('sessions')
		.innerJoin('payments', 'payments.id', 'sessions.payment_id')
		.selectAll('payments')
		.where('sessions.router_id', '=', routerId)
		.orderBy('sessions.id', 'desc')
		.limit(limit)
		.execute();

export const openReviews = (queries: Queries, routerId: number, limit: number) =>
	queries
		.selectFrom('reviews')
		.selectAll()
		.where('resolved_at', 'is', null)
		// Not a join: SQLite would begin with all sessions of the router.
		.where(({ exists, selectFrom }) =>
			exists(
				selectFrom('payments')
					.innerJoin('sessions', 'sessions.id', 'payments.session_id')
					.select('payments.id')
					.whereRef('payments.id', '=', 'reviews.payment_id')
					.where('sessions.router_id', '=', routerId)
			)
		)
		.orderBy('id')
		.limit(limit)
		.execute();

/** Reads a router's unfinished refunds, oldest first. @param job kind of the jobs that each of them has */
export const openRefunds = (queries: Queries, job: string, routerId: number, limit: number) =>
	queries
		.selectFrom('jobs')
		.innerJoin('refunds', 'refunds.id', 'jobs.subject_id')
		.innerJoin('payments', 'payments.id', 'refunds.payment_id')
		.innerJoin('sessions', 'sessions.id', 'payments.session_id')
		.selectAll('refunds')
		.where('jobs.kind', '=', job)
		.where('sessions.router_id', '=', routerId)
		.orderBy('refunds.id')
		.limit(limit)
		.execute();

export const notConnected = (queries: Queries, routerId: number, limit: number) =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('router_id', '=', routerId)
		.where('status', '=', 'activating')
		.orderBy('id')
		.limit(limit)
		.execute();
