import { lockName } from '#lib/server/db/locks.ts';
import type { Base } from '#lib/server/base.ts';
import { accountActor } from '#lib/server/audit.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { type JobHandlers, fenceHandlers } from '#lib/server/jobs.ts';
import { cutPage, findById, first, isChanged } from '#lib/server/db/queries.ts';

/** An administrator sees the pages of an owner for this long at most. */
const MAX_VIEW_MINUTES = 30;
const END_VIEW_JOB = 'owner-view.end';

interface ViewOrder {
	/** The account of the owner. */
	accountId: number;
	adminId: number;
	signInSession: string;
	/** The owner sees it. */
	reason: string;
}

/**
 * Lets an administrator see the pages of an owner. A view belongs to one sign-in session, changes nothing and ends
 * after MAX_VIEW_MINUTES. Start and end are in the audit log, and the owner sees both with the reason.
 */
export const ownerViewJobs = (context: Base): JobHandlers =>
	fenceHandlers(context, {
		[END_VIEW_JOB]: async ({ database, ...services }, id) => {
			await database.transact((trx) => endView(services, trx, id, 'airtill'));
			return null;
		}
	});

/** Ends the view that the sign-in session has. Returns false if the account is not an owner's. */
export async function startOwnerView(context: Base, order: ViewOrder): Promise<boolean> {
	const { audit, clock, database, jobs } = context;
	const { accountId, adminId, signInSession, reason } = order;
	return database.transact(async (trx) => {
		if ((await findById(trx, 'accounts', accountId))?.role !== 'owner') return false;
		await stopViews(context, trx, { adminId, signInSession });
		const now = clock.now();
		const endsAt = now + MAX_VIEW_MINUTES * 60_000;
		const { id } = await trx
			.insertInto('owner_views')
			.values({
				...{ account_id: accountId, admin_id: adminId, sign_in_session: signInSession, reason },
				...{ started_at: now, ends_at: endsAt }
			})
			.returning('id')
			.executeTakeFirstOrThrow();
		await jobs.schedule(trx, END_VIEW_JOB, id, endsAt);
		const after = { account_id: accountId, view: id };
		await audit.record(trx, { actor: accountActor(adminId), action: 'owner.view_started', reason, after });
		return true;
	});
}

const selectOpenViews = (queries: Queries, signInSession: string) =>
	queries
		.selectFrom('owner_views')
		.selectAll()
		.where('sign_in_session', '=', signInSession)
		.where('ended_at', 'is', null);

export const findOwnerView = ({ clock, database }: Base, signInSession: string) =>
	first(
		selectOpenViews(database.db, signInSession)
			.where('ends_at', '>', clock.now())
			.where('account_id', 'in', (owners) =>
				owners.selectFrom('accounts').select('accounts.id').where('role', '=', 'owner')
			)
	);

export const stopOwnerViews = (context: Base, of: Pick<ViewOrder, 'adminId' | 'signInSession'>) =>
	context.database.transact((trx) => stopViews(context, trx, of));

async function stopViews(
	context: Base,
	trx: Tx,
	{ adminId, signInSession }: Pick<ViewOrder, 'adminId' | 'signInSession'>
): Promise<void> {
	await lockName(trx, `views of ${signInSession}`);
	for (const { id } of await selectOpenViews(trx, signInSession).execute()) {
		await endView(context, trx, id, accountActor(adminId));
	}
}

async function endView({ audit, clock }: Pick<Base, 'audit' | 'clock'>, trx: Tx, id: number, actor: string) {
	const view = await first(trx.selectFrom('owner_views').selectAll().where('id', '=', id));
	if (!view) return;
	const endedAt = Math.min(clock.now(), view.ends_at);
	const update = trx.updateTable('owner_views').set({ ended_at: endedAt }).where('id', '=', id);
	if (!(await isChanged(update.where('ended_at', 'is', null)))) return;
	const after = { account_id: view.account_id, view: id };
	await audit.record(trx, { actor, action: 'owner.view_ended', reason: view.reason, after });
}

/** Newest first. @param page views older than the one with the id `before`; null for the newest */
export async function listOwnerViews(
	{ database }: Base,
	accountId: number,
	{ before, limit }: { before: number | null; limit: number }
) {
	const views = await database.db
		.selectFrom('owner_views')
		.selectAll()
		.where('account_id', '=', accountId)
		.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.orderBy('id', 'desc')
		.limit(limit + 1)
		.execute();
	return cutPage(views, limit, ({ id }) => id);
}
