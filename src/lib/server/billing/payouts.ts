import { sql } from 'kysely';
import { formatMinor } from '#lib/domain/money.ts';
import { ANY_AMOUNT, NAMED_METHODS } from '#lib/domain/payment-methods.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { withoutHidden } from '#lib/domain/text.ts';
import { DAY_MS } from '#lib/domain/time.ts';
import type { Author } from '../audit.ts';
import type { Base } from '../base.ts';
import type { Reads, Tx } from '../db/database.ts';
import { lockById, lockName } from '../db/locks.ts';
import { exists, findById, first } from '../db/queries.ts';
import type { Row } from '../db/schema.ts';
import { SHORTENED, looksShortened, readCsv } from '../platform/csv.ts';
import { attempt, refuse } from '../platform/errors.ts';
import { payoutReference } from '../platform/secrets.ts';
import { SUBMITTING_MAX_MS, computePollDelayMs, formatRaw, redactMessage } from './operator-calls.ts';
import { CROWDED_MS, isCrowded } from './operators/client.ts';
import type { OperatorAdapter, PayoutRequest, StatusOutcome, SubmitOutcome } from './operators/operator.ts';
import type { BillingContext, BillingJob } from './payments.ts';
import { type ReviewReason, closeOpenReviews, openReview } from './reviews.ts';

/**
 * Payouts: mobile money that the platform holds goes to its owners (src/docs/decisions/payouts.md).
 *
 * States: `proposed` waits for a second administrator, then `open`, then `paid` or `failed`; or `cancelled` before anything
 * was booked. An open one is sent by its operator, as a refund is, or by a person with a file. A person may correct a final
 * one once: `paid` to `failed` (the money came back), `failed` to `paid` (it arrived all the same); and may add the
 * transaction id that an operator did not tell.
 * Guarantees: one payout of an owner is proposed or open, decided with the account locked, and never for more than the
 * balance. A request is repeated with its own reference only. The status read decides, and reads again a day later.
 */
export type PayoutRow = Row<'payouts'>;
export type DestinationRow = Row<'payout_destinations'>;

export const PAYOUT_JOB = 'payout.send';
export const BANK = 'bank';
export const PAYOUT_METHODS = [...NAMED_METHODS, BANK] as const;
export const MAX_ADDRESS = 200;
/** Longer than anybody takes who has stolen a password, until the owner reads the announcement. */
const DESTINATION_WAIT_MS = DAY_MS;
/** Owners of a run. */
export const MAX_RUN = 1_000;

const RETRY_MS = 5_000;
/** A payout that the operator does not accept for this long opens a review; tries continue. */
const WAITING_MS = 60 * 60 * 1000;
/** A payout that the operator does not know after this time never arrived. */
const NOT_FOUND_MS = 2 * 60 * 1000;
/** A final payout is not read again after this time. */
const LAST_LOOK_MS = 7 * DAY_MS;

// The balance

/** What an entry adds to the balance. */
const SIGNED = sql`(case 'owner' when credit then amount_minor - fee_minor when debit then fee_minor - amount_minor else 0 end)`;
const IS_SALE = sql`(kind = 'payment' and credit = 'owner')`;

/** Entries of money that can be paid out: in live mode without test money. */
const countEntries = ({ config }: Pick<Base, 'config'>) =>
	sql`currency = ${config.currency} ${
		config.mode === 'live'
			? sql`and 'payout:sandbox' not in (debit, credit)
				and not (kind in ('payment', 'correction', 'refund') and exists (select 1 from payments
				where payments.id = book_entries.source_id and payments.operator = 'sandbox'))`
			: sql``
	}`;

/** In minor units. `balance` is what is left to pay out. */
export interface Balance {
	earned: number;
	refunded: number;
	fees: number;
	paid: number;
	open: number;
	balance: number;
}

/** Sums what the platform has held of an owner's money. Cash of vouchers is the owner's already. */
export async function sumBalance(
	context: Pick<Base, 'config'> & { database: { db: Reads } },
	ownerId: number
): Promise<Balance> {
	const { rows } = await sql<Omit<Balance, 'open'>>`select
		coalesce(sum(case when ${IS_SALE} then amount_minor when kind = 'correction' and debit = 'owner' then -amount_minor else 0 end), 0) as earned,
		coalesce(sum(case when kind = 'refund' and debit = 'owner' then amount_minor else 0 end), 0) as refunded,
		coalesce(sum(case when 'owner' not in (debit, credit) then 0 when fee_debit = 'owner' then fee_minor when fee_credit = 'owner' then -fee_minor else 0 end), 0) as fees,
		coalesce(sum(case when kind in ('payout', 'payout_late') then amount_minor when kind = 'payout_failed' then -amount_minor else 0 end), 0) as paid,
		coalesce(sum(${SIGNED}), 0) as balance
		from book_entries where owner_account_id = ${ownerId} and ${countEntries(context)}`.execute(
		context.database.db
	);
	const sums = rows[0] ?? { earned: 0, refunded: 0, fees: 0, paid: 0, balance: 0 };
	const unfinished = await first(
		context.database.db
			.selectFrom('payouts')
			.select(['amount_minor', 'operator'])
			.where(({ and }) => and({ owner_account_id: ownerId, status: 'open' }))
	);
	const isTest = context.config.mode === 'live' && unfinished?.operator === 'sandbox';
	const open = isTest ? 0 : (unfinished?.amount_minor ?? 0);
	return { ...sums, paid: sums.paid - open, open };
}

// Destinations

/** The destination that is used now, and the one that will be. */
export async function findDestinations({ database, clock }: Pick<Base, 'database' | 'clock'>, id: number) {
	const rows = await database.db
		.selectFrom('payout_destinations')
		.selectAll()
		.where('owner_account_id', '=', id)
		.where('cancelled_at', 'is', null)
		.orderBy('id', 'desc')
		.limit(2)
		.execute();
	const [newest, before] = rows;
	const isWaiting = newest !== undefined && newest.usable_at > clock.now();
	return { used: (isWaiting ? before : newest) ?? null, next: isWaiting ? newest : null };
}

/** Reads a destination as typed. @returns null if it is neither a mobile number nor a text about a bank account */
export function parseDestination(method: string, text: string, region: string) {
	const known = PAYOUT_METHODS.find((one) => one === method);
	if (known === undefined) return null;
	const plain = withoutHidden(text).trim();
	const address = known === BANK ? plain : parseMobile(plain, region);
	return address === null || address.length < 5 || address.length > MAX_ADDRESS
		? null
		: { method: known, address };
}

/**
 * Stores where an owner wants to be paid, from DESTINATION_WAIT_MS on. It replaces one that still waits; the one that is
 * used now only ends the waiting.
 * @param announce queues messages in the same transaction, if anything changes
 */
export async function changeDestination(
	context: Base,
	{ accountId, personId }: { accountId: number; personId: number },
	to: { method: string; address: string },
	author: Author,
	announce: (trx: Tx, usableAt: number, id: number) => Promise<void>
): Promise<void> {
	const { database, clock, audit } = context;
	await database.transact(async (trx) => {
		await lockById(trx, 'accounts', accountId);
		const now = clock.now();
		const { used, next } = await findDestinations({ clock, database: { ...database, db: trx } }, accountId);
		const isSame = (one: DestinationRow | null) => one?.method === to.method && one.address === to.address;
		if (isSame(next) || (next === null && isSame(used))) return;
		const waiting = trx.updateTable('payout_destinations').set({ cancelled_at: now });
		await waiting.where('owner_account_id', '=', accountId).where('usable_at', '>', now).execute();
		const usableAt = isSame(used) ? now : now + DESTINATION_WAIT_MS;
		const { id } = await trx
			.insertInto('payout_destinations')
			.values({
				...{ owner_account_id: accountId, account_id: personId, ...to },
				...{ usable_at: usableAt, created_at: now }
			})
			.returning('id')
			.executeTakeFirstOrThrow();
		await announce(trx, usableAt, id);
		await audit.record(trx, {
			...{ actor: author.by, reason: author.note, action: 'payout.destination' },
			before: { method: used?.method ?? null, address: used?.address ?? null },
			after: { owner_account_id: accountId, ...to, usable_at: usableAt }
		});
	});
}

// Runs

export interface RunOrder {
	/** Names the run, so that a form that is sent twice makes each payout once. */
	run: string;
	/** Only what was earned before, in ms since the epoch; null: everything. */
	until: number | null;
	minimumMinor: number;
	/** By operators where they can; otherwise all by file. */
	byOperator: boolean;
}

/** Why an owner is not in a run. */
export type Obstacle = 'no_destination' | 'destination_waits' | 'payout_open' | 'suspended' | 'too_little';

interface Candidate {
	id: number;
	email: string;
	amount: number;
	method: string | null;
	address: string | null;
	operator: string | null;
	obstacle: Obstacle | null;
}

/** Lists owners whose balance reaches the minimum, the highest first. */
export async function previewRun(
	context: BillingContext,
	{ until, minimumMinor, byOperator }: Omit<RunOrder, 'run'>
): Promise<Candidate[]> {
	const { database, clock } = context;
	const { rows } = await sql<Record<'email' | 'status', string> & Record<'id' | 'amount' | 'open', number>>`
		select owner.id, owner.email, owner.status, sums.amount, (select count(*) from payouts
			where owner_account_id = owner.id and payouts.status in ('proposed', 'open')) as open
		from (select owner_account_id, ${selectPayable(until)} as amount from book_entries
			where ${countEntries(context)} group by owner_account_id) as sums
		join accounts as owner on owner.id = sums.owner_account_id
		where sums.amount >= ${Math.max(1, minimumMinor)}
		order by sums.amount desc, owner.id limit ${MAX_RUN}`.execute(database.db);
	const candidates: Candidate[] = [];
	// One after another: a thousand at once would keep buyers from the database.
	for (const { id, email, status, amount, open } of rows) {
		const { used, next } = await findDestinations({ database, clock }, id);
		const sender = used && byOperator ? findSender(context, used) : null;
		const { method = null, address = null } = used ?? {};
		const fitting = fitAmount(sender, method, amount);
		const missing = next ? 'destination_waits' : 'no_destination';
		const small = fitting === null ? 'too_little' : null;
		const obstacle =
			status !== 'active' ? 'suspended' : open > 0 ? 'payout_open' : used === null ? missing : small;
		const to = { method, address, operator: sender?.id ?? null };
		candidates.push({ id, email, amount: fitting ?? amount, ...to, obstacle });
	}
	return candidates;
}

/** A sale whose money is to go back, and has not left yet. */
const IS_RETURNING = sql`(${IS_SALE} and source_id in (select payments.id from refunds
	join payments on payments.id = refunds.payment_id
	where payments.status in ('refund_pending', 'refund_failed') and payments.applied = 1))`;

/** The smaller of the balance and of that before a time: refunds and later payouts count in both. */
function selectPayable(until: number | null) {
	const all = sql`sum(case when ${IS_RETURNING} then 0 else ${SIGNED} end)`;
	if (until === null) return all;
	const before = sql`sum(case when ${IS_RETURNING} or (${IS_SALE} and at >= ${until}) then 0 else ${SIGNED} end)`;
	return sql`(case when ${before} < ${all} then ${before} else ${all} end)`;
}

type Sender = OperatorAdapter & Required<Pick<OperatorAdapter, 'disburse' | 'readPayout'>>;

const isSender = (adapter: OperatorAdapter | null | undefined): adapter is Sender =>
	adapter?.disburse !== undefined && adapter.readPayout !== undefined;

/** The operator that sends money to a destination. */
function findSender(
	{ operators, config }: Pick<BillingContext, 'operators' | 'config'>,
	{ method, address }: Pick<DestinationRow, 'method' | 'address'>
): Sender | null {
	const adapter = method === BANK ? null : operators.forMethod(method, address);
	const { currency = config.currency } = adapter ?? {};
	return isSender(adapter) && currency === config.currency && adapter.takesNumber(address) ? adapter : null;
}

/**
 * Operators send whole amounts of some currencies, and a limited one at a time. The rest waits for the next run.
 * @returns null if there is less than the operator sends
 */
function fitAmount(sender: Sender | null, method: string | null, amount: number): number | null {
	const { stepMinor, minMinor, maxMinor } = sender?.amounts(method ?? '', true) ?? {
		...ANY_AMOUNT,
		maxMinor: amount
	};
	const most = Math.min(amount, maxMinor);
	const fitting = most - (most % stepMinor);
	return fitting < Math.max(1, minMinor) ? null : fitting;
}

/** Makes the payouts of a run. @returns how many, and their sum */
export async function createRun(context: BillingContext, order: RunOrder, author: Author) {
	const made = { count: 0, sum: 0 };
	for (const { id, obstacle } of await previewRun(context, order)) {
		const payout = obstacle === null ? await createPayout(context, order, id, author) : null;
		if (payout) made.count += 1;
		made.sum += payout?.amount_minor ?? 0;
	}
	return made;
}

/** Decides with the account locked. @returns null if there is nothing to pay any more */
function createPayout(
	context: BillingContext,
	{ run, until, minimumMinor, byOperator }: RunOrder,
	ownerId: number,
	author: Author
): Promise<PayoutRow | null> {
	const { database, clock, config } = context;
	return database.transact(async (trx) => {
		const owner = await lockById(trx, 'accounts', ownerId);
		if (owner?.status !== 'active') return null;
		const payouts = trx
			.selectFrom('payouts')
			.select(['run', 'status'])
			.where('owner_account_id', '=', ownerId);
		const earlier = await payouts.execute();
		if (earlier.some((one) => one.run === run || one.status === 'open' || one.status === 'proposed'))
			return null;
		const { used } = await findDestinations({ clock, database: { ...database, db: trx } }, ownerId);
		const payable = await findPayable(context, trx, ownerId, until);
		const sender = used && byOperator ? findSender(context, used) : null;
		const amount = fitAmount(sender, used?.method ?? null, payable);
		if (used === null || payable < minimumMinor || amount === null) return null;
		const now = clock.now();
		const payout = await trx
			.insertInto('payouts')
			.values({
				...{ run, owner_account_id: ownerId, method: used.method, address: used.address },
				operator: sender?.id ?? null,
				reference: payoutReference(owner, earlier.length + 1),
				...{ amount_minor: amount, currency: config.currency, submit_state: 'created' },
				status: config.payoutApproval ? 'proposed' : 'open',
				...{ created_by: author.by, approved_by: null },
				...{ created_at: now, approved_at: config.payoutApproval ? null : now, updated_at: now }
			})
			.returningAll()
			.executeTakeFirstOrThrow();
		await begin(context, trx, payout, author, null);
		return payout;
	});
}

async function findPayable(context: BillingContext, trx: Tx, ownerId: number, until: number | null) {
	const { rows } = await sql<{ amount: number | null }>`select ${selectPayable(until)} as amount
		from book_entries where owner_account_id = ${ownerId} and ${countEntries(context)}`.execute(trx);
	return rows[0]?.amount ?? 0;
}

/** Schedules an open payout of an operator, and records it. */
async function begin(
	{ jobs, clock, audit }: BillingContext,
	trx: Tx,
	payout: PayoutRow,
	author: Author,
	before: PayoutRow['status'] | null
): Promise<void> {
	const isSent = payout.status === 'open' && payout.operator !== null;
	if (isSent) await jobs.schedule(trx, PAYOUT_JOB, payout.id, clock.now());
	await recordChange(audit, trx, payout, { actor: author.by, reason: author.note }, before);
}

const recordChange = (
	audit: Base['audit'],
	trx: Tx,
	{ id, owner_account_id, status, amount_minor, provider_reference: transaction, ...payout }: PayoutRow,
	by: { actor: string; reason: string },
	before: PayoutRow['status'] | null
) =>
	audit.record(trx, {
		...by,
		action: `payout.${status}`,
		before: { payout: before },
		after: {
			...{ payout_id: id, owner_account_id, payout: status, amount_minor, transaction },
			...{ method: payout.method, address: payout.address, operator: payout.operator }
		}
	});

/**
 * Approves or cancels the proposed payouts of a run. One that exceeds the balance or goes elsewhere by now is cancelled.
 * @param shown what the administrator has seen of the run; null: nothing, to cancel it
 * @returns how many are approved, and how many are cancelled
 * @throws Refused
 */
export async function decideRun(
	context: BillingContext,
	run: string,
	shown: RunSum | null,
	author: Author
): Promise<{ approved: number; cancelled: number }> {
	const { database, clock } = context;
	const decision = shown === null ? 'cancel' : 'approve';
	const payouts = await listProposed(context, run);
	if (payouts.length === 0) throw decidedAlready();
	const { count, sum } = computeRunSum(payouts);
	if (shown !== null && (shown.count !== count || shown.sum !== sum)) {
		throw refuse('The run is not what was shown any more. Look at it again.');
	}
	const done = { approved: 0, cancelled: 0 };
	for (const { id, created_by, owner_account_id: ownerId } of payouts) {
		if (decision === 'approve' && created_by === author.by) {
			throw refuse('You have made this run. Another administrator must approve it.');
		}
		await database.transact(async (trx) => {
			const owner = await lockById(trx, 'accounts', ownerId);
			const payout = await lockById(trx, 'payouts', id);
			if (payout?.status !== 'proposed') return;
			const { used } = await findDestinations({ clock, database: { ...database, db: trx } }, ownerId);
			const isGood =
				owner?.status === 'active' &&
				used?.method === payout.method &&
				used.address === payout.address &&
				(await findPayable(context, trx, ownerId, null)) >= payout.amount_minor;
			const now = clock.now();
			const to =
				decision === 'approve' && isGood
					? ({ status: 'open', approved_by: author.by, approved_at: now } as const)
					: ({ status: 'cancelled' } as const);
			const changed = await changePayout(trx, payout, { ...to, updated_at: now });
			if (changed) await begin(context, trx, changed, author, 'proposed');
			if (changed) done[changed.status === 'open' ? 'approved' : 'cancelled'] += 1;
		});
	}
	if (done.approved + done.cancelled === 0) throw decidedAlready();
	return done;
}

const decidedAlready = () => refuse('This run was decided already. The list shows its payouts.');

interface RunSum {
	count: number;
	sum: number;
}

export const computeRunSum = (payouts: readonly Pick<PayoutRow, 'amount_minor'>[]): RunSum => ({
	count: payouts.length,
	sum: payouts.reduce((sum, { amount_minor }) => sum + amount_minor, 0)
});

/** Lists the proposed payouts of a run, or all: there is one of an owner at most. */
export const listProposed = ({ database }: Pick<Base, 'database'>, run: string | null) =>
	database.db
		.selectFrom('payouts')
		.innerJoin('accounts', 'accounts.id', 'payouts.owner_account_id')
		.selectAll('payouts')
		.select('accounts.email')
		.where('payouts.status', '=', 'proposed')
		.$if(run !== null, (found) => found.where('run', '=', run))
		.orderBy('payouts.id')
		.execute();

/** Changes a payout that is still as it was read. */
const changePayout = (
	trx: Tx,
	{ id, status, submit_state }: Pick<PayoutRow, 'id' | 'status' | 'submit_state'>,
	to: Partial<Omit<PayoutRow, 'id'>>
): Promise<PayoutRow | undefined> =>
	trx
		.updateTable('payouts')
		.set(to)
		.where(({ and }) => and({ id, status, submit_state }))
		.returningAll()
		.executeTakeFirst();

// By operator

interface Subject {
	payout: PayoutRow;
	sender: Sender;
}

/** Handles PAYOUT_JOB. @returns when to look again, or null */
export async function sendPayout(context: BillingJob, id: number): Promise<number | null> {
	const { database, clock, operators } = context;
	const payout = await findById(database.db, 'payouts', id);
	if (!payout || payout.operator === null || payout.approved_at === null) return null;
	const sender = operators.find(payout.operator);
	if (!isSender(sender)) {
		if (payout.status !== 'open') return null;
		await askPerson(
			context,
			payout,
			'no_final_answer',
			`operator ${payout.operator} is not configured for payouts`
		);
		return clock.now() + WAITING_MS;
	}
	const subject = { payout, sender };
	if (payout.status !== 'open') return lookAgain(context, subject);
	return payout.submit_state === 'created' ? send(context, subject) : follow(context, subject);
}

const describeRequest = ({ payout }: Subject): PayoutRequest => ({
	reference: payout.reference,
	...{ operatorReference: null, submittedAt: payout.submitted_at, claim: null },
	...{ amountMinor: payout.amount_minor, currency: payout.currency },
	...{ phone: payout.address, paymentMethod: payout.method }
});

const askPerson = (context: BillingJob, { id }: PayoutRow, reason: ReviewReason, detail: string) =>
	context.database.transact((trx) => openReview(context, trx, { subject: `payout ${id}` }, reason, detail));

/** Of `submit_state`. @returns false if somebody was faster */
const changeState = async ({ database, clock }: BillingJob, payout: PayoutRow, to: Partial<PayoutRow>) =>
	(await database.transact((trx) => changePayout(trx, payout, { ...to, updated_at: clock.now() }))) !==
	undefined;

async function send(context: BillingJob, subject: Subject): Promise<number | null> {
	const { clock } = context;
	const { payout, sender } = subject;
	const sending = { submit_state: 'submitting', submitted_at: clock.now() } as const;
	if (!(await changeState(context, payout, sending))) return clock.now();
	const outcome = await sender.disburse(describeRequest(subject));
	const sent = { payout: { ...payout, ...sending }, sender };
	if (outcome.kind === 'refused') return handleRefusal(context, sent, payout.submitted_at, outcome);
	const answer = formatAnswer(payout, outcome);
	await changeState(context, sent.payout, { submit_state: outcome.kind, answer });
	return clock.now() + sender.capabilities.minStatusDelaySeconds * 1000;
}

const formatAnswer = ({ address }: PayoutRow, outcome: SubmitOutcome | StatusOutcome) =>
	redactMessage(`${outcome.kind}: ${formatRaw(outcome)}`, address);

/** The operator queued nothing: the payout is sent again later, or fails, unless an earlier request may be there. */
async function handleRefusal(
	context: BillingJob,
	subject: Subject,
	earlier: number | null,
	outcome: Extract<SubmitOutcome, { kind: 'refused' }>
): Promise<number | null> {
	const { payout } = subject;
	const answer = formatAnswer(payout, outcome);
	if (outcome.retryable) {
		await changeState(context, payout, { submit_state: 'created', submitted_at: earlier, answer });
		return pollLater(context, subject, WAITING_MS, 'the operator does not accept it');
	}
	const uncertain = { ...payout, submit_state: 'uncertain' } as const;
	// The next refusal counts from the same earlier request.
	const submittedAt = earlier ?? payout.submitted_at;
	const to = { submit_state: 'uncertain', submitted_at: submittedAt, answer } as const;
	if (!(await changeState(context, payout, to))) return context.clock.now();
	if (earlier !== null && !(await neverArrived(context, { ...subject, payout: uncertain }, earlier))) {
		return pollLater(context, subject);
	}
	return finish(context, uncertain, { status: 'failed', answer });
}

async function neverArrived({ clock }: BillingJob, subject: Subject, earlier: number): Promise<boolean> {
	const isOld = clock.now() - earlier >= NOT_FOUND_MS;
	return isOld && (await subject.sender.readPayout(describeRequest(subject))).kind === 'not_found';
}

async function follow(context: BillingJob, subject: Subject): Promise<number | null> {
	const { clock } = context;
	const { payout, sender } = subject;
	if (payout.submit_state === 'submitting') {
		if (clock.now() - (payout.submitted_at ?? 0) <= SUBMITTING_MAX_MS) return clock.now() + RETRY_MS;
		await changeState(context, payout, { submit_state: 'uncertain' });
		return clock.now();
	}
	const outcome = await sender.readPayout(describeRequest(subject));
	if (isCrowded(outcome)) return clock.now() + CROWDED_MS;
	const answer = formatAnswer(payout, outcome);
	switch (outcome.kind) {
		case 'succeeded': {
			const sent = outcome.amountMinor ?? payout.amount_minor;
			const currency = outcome.currency ?? payout.currency;
			const isOther = sent !== payout.amount_minor || currency !== payout.currency;
			const detail = isOther ? `the operator sent ${formatMinor(sent, currency, 'en')}` : null;
			return finish(
				context,
				payout,
				{ status: 'paid', answer, provider_reference: outcome.providerReference },
				detail
			);
		}
		case 'failed':
			return finish(context, payout, { status: 'failed', answer });
		case 'contradiction':
			await askPerson(context, payout, 'contradiction', outcome.message);
			return pollLater(context, subject);
		case 'not_found':
			// The operator takes a reference once, however late the first request arrives.
			if (payout.submit_state === 'uncertain' && sender.capabilities.resubmitSameReferenceSafe) {
				await changeState(context, payout, { submit_state: 'created' });
			}
			return pollLater(context, subject, WAITING_MS, 'the operator does not know it');
		default:
			return pollLater(context, subject);
	}
}

/** Opens a review if the payout takes too long. */
async function pollLater(
	context: BillingJob,
	{ payout }: Subject,
	reviewAfterMs = context.config.reconcileMs,
	detail = 'the operator gives no final answer'
): Promise<number> {
	const now = context.clock.now();
	const ageMs = Math.max(0, now - (payout.approved_at ?? now));
	if (ageMs > reviewAfterMs) await askPerson(context, payout, 'no_final_answer', detail);
	return now + Math.max(RETRY_MS, computePollDelayMs({ ageMs, uncertain: false, hasFailed: false }));
}

/** Stores the outcome of an open payout. @returns when to look again: operators have been wrong */
async function finish(
	context: BillingJob,
	payout: PayoutRow,
	to: { status: 'paid' | 'failed'; answer: string; provider_reference?: string | null },
	difference: string | null = null
): Promise<number> {
	const { database, clock, audit } = context;
	await database.transact(async (trx) => {
		const now = clock.now();
		const at = to.status === 'paid' ? { paid_at: now } : { failed_at: now };
		const changed = await changePayout(trx, payout, { ...to, ...at, updated_at: now });
		if (!changed) return;
		const about = { subject: `payout ${payout.id}` };
		if (difference !== null) await openReview(context, trx, about, 'amount_mismatch', difference);
		await recordChange(audit, trx, changed, { actor: 'reconciler', reason: 'the operator says so' }, 'open');
	});
	return clock.now() + DAY_MS;
}

/** A final payout whose operator says something else by now is for a person. */
async function lookAgain(context: BillingJob, subject: Subject): Promise<number | null> {
	const { payout } = subject;
	const now = context.clock.now();
	const outcome = await subject.sender.readPayout(describeRequest(subject));
	if (outcome.kind === 'unavailable' || outcome.kind === 'pending') {
		return now - payout.updated_at > LAST_LOOK_MS ? null : now + WAITING_MS;
	}
	const contradiction = describeContradiction(payout, outcome);
	if (contradiction !== null) {
		await askPerson(context, payout, 'contradiction', contradiction);
		return null;
	}
	// A callback or a restart may have woken it early.
	return now < payout.updated_at + DAY_MS ? payout.updated_at + DAY_MS : null;
}

function describeContradiction({ status }: PayoutRow, outcome: StatusOutcome): string | null {
	if (outcome.kind === 'contradiction') return outcome.message;
	if (outcome.kind === 'not_found')
		return status === 'paid' ? 'it is paid here, and the operator does not know it' : null;
	const said = { succeeded: 'paid', failed: 'failed' }[outcome.kind as string];
	return said === undefined || said === status ? null : `it is ${status} here, and the operator says ${said}`;
}

/** Reads a payout because of a callback. @returns false if there is none with this reference */
export async function wakePayout({ database, jobs }: BillingContext, reference: string): Promise<boolean> {
	const payouts = database.db.selectFrom('payouts').select('id').where('reference', '=', reference);
	const payout = await first(payouts);
	if (payout) await jobs.wake(PAYOUT_JOB, payout.id);
	return payout !== null;
}

// By a person

/** What a person may record: of an operator's payout that is open only if its review asks. */
export const listOutcomes = (payout: PayoutRow, isAsked: boolean): ('paid' | 'failed')[] => {
	if (payout.status === 'open') {
		if (payout.operator !== null && !isAsked) return [];
		// A request that is under way may still pay.
		return payout.submit_state === 'submitting' ? ['paid'] : ['paid', 'failed'];
	}
	if (payout.status === 'paid') {
		const returned = payout.failed_at === null ? (['failed'] as const) : [];
		return payout.provider_reference === null ? ['paid', ...returned] : [...returned];
	}
	return payout.status === 'failed' && payout.paid_at === null ? ['paid'] : [];
};

/** Also by a review that was dismissed: the same fact opens no other. */
export const isAskedAbout = (queries: Reads, { id }: Pick<PayoutRow, 'id'>): Promise<boolean> =>
	exists(queries.selectFrom('reviews').select('id').where('subject', '=', `payout ${id}`));

/**
 * Records what became of a payout, and closes its reviews. Repeating it changes nothing.
 * @param isFromFile files are old and long: they correct nothing
 * @throws Refused
 */
export async function recordOutcome(
	context: BillingContext,
	id: number,
	{ outcome, transaction, ...author }: Author & { outcome: 'paid' | 'failed'; transaction: string | null },
	isFromFile = false
): Promise<void> {
	const { database, clock, audit } = context;
	await database.transact(async (trx) => {
		const payout = await lockById(trx, 'payouts', id);
		if (!payout) throw refuse(`There is no payout ${id}.`);
		if (payout.status === outcome && (outcome === 'failed' || payout.provider_reference === transaction))
			return;
		if (isFromFile && payout.status !== 'open') {
			throw refuse(
				`Payout ${id} is ${payout.status}. A file ends open payouts only: record a return at /admin/payouts?show=all.`
			);
		}
		if (!listOutcomes(payout, await isAskedAbout(trx, payout)).includes(outcome)) {
			throw refuse(`Payout ${id} is ${payout.status}.`);
		}
		if (outcome === 'paid') await checkTransaction(trx, payout, transaction);
		const now = clock.now();
		const paidAt = payout.status === 'paid' ? payout.paid_at : now;
		const at = outcome === 'paid' ? { paid_at: paidAt, provider_reference: transaction } : { failed_at: now };
		const answer = author.note;
		const changed = await changePayout(trx, payout, { status: outcome, ...at, answer, updated_at: now });
		if (!changed) throw refuse(`Payout ${id} has changed meanwhile.`);
		const about = { subject: `payout ${id}` };
		await closeOpenReviews(context, trx, about.subject, { ...author, decision: outcome });
		await recordChange(audit, trx, changed, { actor: author.by, reason: author.note }, payout.status);
	});
}

async function checkTransaction(trx: Tx, { id }: PayoutRow, transaction: string | null): Promise<void> {
	if (transaction === null) throw refuse('Transaction id: enter the one of the operator or bank.');
	await lockName(trx, `payout transaction ${transaction}`);
	const same = trx.selectFrom('payouts').select('id').where('provider_reference', '=', transaction);
	const other = await first(same.where('id', '<>', id));
	if (other) throw refuse(`Transaction ${transaction} has paid payout ${other.id}.`);
}

/** Payouts of an owner, or all, newest first. @param before the id of the last row of the page before */
export const listPayouts = (
	{ database }: Pick<Base, 'database'>,
	of: Partial<Pick<PayoutRow, 'owner_account_id' | 'status'>> & {
		isUnfinished?: boolean;
		isApproved?: boolean;
	},
	{ before, limit }: { before: number | null; limit: number }
) => {
	const { isUnfinished = false, isApproved = false, ...fields } = of;
	return database.db
		.selectFrom('payouts')
		.innerJoin('accounts', 'accounts.id', 'payouts.owner_account_id')
		.selectAll('payouts')
		.select('accounts.email')
		.where((where) =>
			where.and(
				Object.entries(fields).map(([name, value]) =>
					where(`payouts.${name as 'status'}`, '=', value as 'open')
				)
			)
		)
		.$if(isUnfinished, (found) => found.where('payouts.status', 'in', ['proposed', 'open']))
		.$if(isApproved, (found) => found.where('payouts.approved_at', 'is not', null))
		.$if(before !== null, (found) => found.where('payouts.id', '<', before))
		.orderBy('payouts.id', 'desc')
		.limit(limit)
		.execute();
};

/** Payouts that an owner got in a time, and those that came back in it: past times never change. */
export async function listPaid(
	{ database }: { database: { db: Reads } },
	ownerId: number,
	{ from, to }: { from: number; to: number }
) {
	const rows = await database.db
		.selectFrom('payouts')
		.selectAll()
		.where('owner_account_id', '=', ownerId)
		.where('paid_at', 'is not', null)
		.orderBy('id')
		.execute();
	return rows
		.flatMap((row) => [
			{ ...row, at: row.paid_at ?? 0, isReturn: false },
			...(row.status === 'failed' ? [{ ...row, at: row.failed_at ?? 0, isReturn: true }] : [])
		])
		.filter(({ at }) => at >= from && at < to)
		.sort((one, other) => one.at - other.at);
}

/** As the portals of operators write them. */
const ENDS = {
	paid: /^(paid|success|successful|succeeded|completed)$/i,
	failed: /^(failed|refused|rejected)$/i
};

/**
 * Records the outcomes in a file: our reference, the transaction id, and the status. In a row without a
 * status a transaction id means paid, because a person has entered it; a row without either is still open.
 * @returns counts, and sentences about rows that were not recorded
 * @throws Refused if the file lacks a column
 */
export async function importOutcomes(context: BillingContext, bytes: Buffer, author: Author) {
	const rows: { line: number; reference: string; transaction: string; status: string }[] = [];
	const problems: string[] = [];
	let columns = { reference: -1, transaction: -1, status: -1 };
	await readCsv([bytes], {
		header(cells) {
			const find = (pattern: RegExp) => cells.findIndex((cell) => pattern.test(cell.trim()));
			columns = {
				reference: find(/^(reference|external ?id)$/i),
				transaction: find(/^(financial )?transaction ?id$/i),
				status: find(/^(transaction )?status$/i)
			};
			if (columns.reference < 0) throw refuse('The file has no column "Reference".');
			if (columns.transaction < 0) throw refuse('The file has no column "Transaction ID".');
			if (columns.status < 0) throw refuse('The file has no column "Status".');
		},
		row(cells, line) {
			const cell = (index: number) => (cells[index] ?? '').trim().slice(0, MAX_ADDRESS);
			const { reference, transaction, status } = columns;
			rows.push({ line, reference: cell(reference), transaction: cell(transaction), status: cell(status) });
		},
		problem: (line, reason) => void problems.push(`Line ${line}: ${reason}.`)
	});
	const done = { paid: 0, failed: 0 };
	for (const { line, reference, transaction, status } of rows) {
		if (status === '' && transaction === '') continue;
		if (looksShortened(transaction)) {
			problems.push(`Line ${line}: ${SHORTENED}`);
			continue;
		}
		const isPaid = status === '' || ENDS.paid.test(status);
		const outcome = isPaid ? 'paid' : ENDS.failed.test(status) ? 'failed' : null;
		const payouts = context.database.db.selectFrom('payouts').select('id').where('reference', '=', reference);
		const payout = await first(payouts);
		const problem =
			outcome === null
				? `the status "${status}" is neither paid nor failed`
				: payout === null
					? `there is no payout with the reference "${reference}"`
					: await attempt(() =>
							recordOutcome(
								context,
								payout.id,
								{ ...author, outcome, transaction: transaction || null },
								true
							)
						);
		if (problem) problems.push(`Line ${line}: ${typeof problem === 'string' ? problem : problem.message}`);
		else if (outcome !== null) done[outcome] += 1;
	}
	return { ...done, problems };
}
