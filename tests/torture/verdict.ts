/**
 * The operator's own books against ours, at the end. Whoever the operator took money from has the time or the money
 * (or a person has been told), never both; nobody else has time; what was promised is there; every change of state
 * was told once; and the owner's earnings are what the operator has.
 */
import { toMajor } from '../../src/lib/domain/money.ts';
import type { SimulatedPayment } from '../simulators/books.ts';
import type { Simulator } from '../simulators/simulator.ts';
import type { Row, Sql } from '../support/database/sql.ts';
import type { TorturedOperator } from './operators.ts';

export interface Verdict {
	/** The operator took money, and the payer has neither time nor the money back, and nobody was told. */
	lost: string[];
	/** Charged twice for one session, or time and money back. */
	doubled: string[];
	/** Whatever else is not as it must be. */
	wrong: string[];
}

interface Found {
	verdict: Verdict;
	rows: Row[];
	sessions: Map<number, Row>;
	reviewed: Set<number>;
	/** Payment row -> what the operator has of it. */
	charges: Map<number, SimulatedPayment>;
}

const PAID = ['success', 'refund_pending', 'refunded', 'refund_failed'];
const BEGUN = ['active', 'expired', 'ended'];

/**
 * Questions for a person that excuse money which is neither time nor back. An operator that can be asked leaves no
 * other one open.
 */
const REFUND_REASONS = ['refund_not_supported', 'refund_refused', 'refund_failed', 'refund_no_final_answer'];
const BLIND_REASONS = ['no_reference', 'contradiction', 'no_final_answer'];

/** @param since only what began after it: the newest session and the operator's newest payment of that moment */
export async function compare(
	simulator: Simulator,
	operator: TorturedOperator,
	sql: Sql,
	since = { session: 0, charge: 0 }
): Promise<Verdict> {
	const verdict: Verdict = { lost: [], doubled: [], wrong: [] };
	const rows = await sql.all(
		'select * from payments where operator = ? and session_id > ? order by id',
		operator.id,
		since.session
	);
	const sessions = new Map(
		(await sql.all('select * from sessions where id > ?', since.session)).map((row) => [
			Number(row['id']),
			row
		])
	);
	const reviewed = await inReview(sql, operator);
	const charges = new Map<number, SimulatedPayment>();
	const rowOf = finder(rows);
	for (const charge of simulator.books.payments.filter(({ number }) => number > since.charge)) {
		const row = rowOf(charge);
		const taken = simulator.books.takenOf(charge);
		if (row) {
			const id = Number(row['id']);
			if (charges.has(id)) verdict.doubled.push(`payment ${id}: two charges at the operator`);
			charges.set(id, charge);
		} else if (taken > 0) verdict.lost.push(`charge ${charge.operatorReference}: took ${taken}, no row`);
		else verdict.wrong.push(`charge ${charge.operatorReference}: no row`);
	}
	const found = { verdict, rows, sessions, reviewed, charges };
	for (const row of rows) judgePayment(simulator, found, row);
	judgeSessions(simulator, found);
	await judgeEvents(found, sql);
	return verdict;
}

/** By our reference, the operator's, or the address of our callback: not every operator knows our reference. */
export function finder(rows: readonly Row[]): (charge: SimulatedPayment) => Row | undefined {
	const ours = new Map(rows.map((row) => [row['reference'], row]));
	const theirs = new Map(rows.map((row) => [row['operator_reference'], row]));
	return ({ reference, operatorReference, callbackUrl }) =>
		ours.get(reference) ??
		ours.get(operatorReference) ??
		theirs.get(operatorReference) ??
		ours.get(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(callbackUrl ?? '')?.[0]);
}

/** Payments about which a person has been asked what became of the money. */
export async function inReview(sql: Sql, operator: TorturedOperator): Promise<Set<number>> {
	const reviews = await sql.all(
		`select payment_id, reason from reviews where payment_id is not null and resolved_at is null`
	);
	const excusing = operator.blind ? [...REFUND_REASONS, ...BLIND_REASONS] : REFUND_REASONS;
	return new Set(
		reviews.filter(({ reason }) => excusing.includes(String(reason))).map((row) => Number(row['payment_id']))
	);
}

/** Sums the refunds to the payer, in major units. */
export function backOf({ books }: Simulator, charge: SimulatedPayment): number {
	return books.refunds
		.filter((refund) => refund.paymentNumber === charge.number && books.refundOutcome(refund) === 'success')
		.reduce((sum, { amount }) => sum + amount, 0);
}

function judgePayment(simulator: Simulator, { verdict, sessions, reviewed, charges }: Found, row: Row): void {
	const id = Number(row['id']);
	const status = String(row['status']);
	const charge = charges.get(id);
	const taken = charge ? simulator.books.takenOf(charge) : 0;
	const back = charge ? backOf(simulator, charge) : 0;
	const granted = Number(row['applied']) === 1;
	const isExcused = reviewed.has(id);
	const what = `payment ${id} (${status}, granted ${granted}, taken ${taken}, back ${back}, in review ${isExcused}, ${String(row['reference'])})`;

	if (taken > 0 && !granted && back === 0 && !isExcused) verdict.lost.push(what);
	if (granted && back > 0) verdict.doubled.push(`time and money: ${what}`);
	if (back > taken) verdict.doubled.push(`more back than taken: ${what}`);
	if (granted && taken === 0) verdict.wrong.push(`time without money: ${what}`);
	if (back > 0 && back < taken) verdict.wrong.push(`only a part back: ${what}`);
	if (granted && taken !== toMajor(Number(row['amount_minor']), String(row['currency']))) {
		verdict.wrong.push(`time for another amount: ${what}`);
	}
	if (status === 'pending') verdict.wrong.push(`still pending: ${what}`);
	if (status === 'refund_pending' && !isExcused) verdict.wrong.push(`refund without an end: ${what}`);
	if (PAID.includes(status) !== taken > 0 && !isExcused)
		verdict.wrong.push(`the status is not the truth: ${what}`);
	if ((status === 'refunded') !== back > 0 && !isExcused)
		verdict.wrong.push(`the refund is not the truth: ${what}`);
	if (granted && sessions.get(Number(row['session_id']))?.['payment_id'] !== id) {
		verdict.wrong.push(`its session names another payment: ${what}`);
	}
}

function judgeSessions(simulator: Simulator, { verdict, rows, sessions, charges, reviewed }: Found): void {
	const bySession = Map.groupBy(rows, (row) => Number(row['session_id']));
	for (const [id, session] of sessions) {
		const own = bySession.get(id) ?? [];
		const granted = own.filter((row) => Number(row['applied']) === 1);
		const kept = own.filter((row) => {
			const charge = charges.get(Number(row['id']));
			const isOpen = row['status'] === 'refund_failed' || row['status'] === 'refund_pending';
			// What a person has been asked about is not kept: it goes back when the question is decided.
			const isAsked = reviewed.has(Number(row['id'])) && Number(row['applied']) === 0;
			return charge && !isOpen && !isAsked && simulator.books.takenOf(charge) > backOf(simulator, charge);
		});
		const status = String(session['status']);
		if (kept.length > 1 || granted.length > 1)
			verdict.doubled.push(`session ${id}: paid ${kept.length} times`);
		if (BEGUN.includes(status) !== (granted.length === 1)) {
			verdict.wrong.push(`session ${id} is ${status} with ${granted.length} payments`);
		}
	}
}

/** Every transition has one event, and no event tells of anything else. */
async function judgeEvents({ verdict, rows, sessions }: Found, sql: Sql): Promise<void> {
	const events = await sql.all('select type, session_id, payment_id from events');
	const tally = new Map<string, number>();
	for (const { type, session_id, payment_id } of events) {
		const subject = String(type).startsWith('payment.') ? payment_id : session_id;
		const name = `${String(type)} ${String(subject)}`;
		tally.set(name, (tally.get(name) ?? 0) + 1);
	}
	const audited = new Map<string, number>();
	for (const { action, payment_id } of await sql.all('select action, payment_id from audit_log')) {
		const name = `${String(action)} ${String(payment_id)}`;
		audited.set(name, (audited.get(name) ?? 0) + 1);
	}
	const expect = (type: string, id: number, times: readonly number[]) => {
		const seen = tally.get(`${type} ${id}`) ?? 0;
		if (!times.includes(seen))
			verdict.wrong.push(`${type} of ${id}: told ${seen} times, not ${times.join(' or ')}`);
	};
	for (const row of rows) {
		const id = Number(row['id']);
		const status = String(row['status']);
		const isPaid = PAID.includes(status);
		expect('payment.success', id, [isPaid ? 1 : 0]);
		expect('payment.refunded', id, [status === 'refunded' ? 1 : 0]);
		// A late success was told to be failed before, one in time was not.
		expect('payment.failed', id, isPaid ? [0, 1] : [1]);
		const unpaid = (audited.get(`payment.failed ${id}`) ?? 0) + (audited.get(`payment.expired ${id}`) ?? 0);
		const succeeded =
			(audited.get(`payment.success ${id}`) ?? 0) + (audited.get(`payment.success, not applied ${id}`) ?? 0);
		if (unpaid !== (tally.get(`payment.failed ${id}`) ?? 0))
			verdict.wrong.push(`payment ${id}: ${unpaid} failures audited`);
		if (succeeded !== (isPaid ? 1 : 0)) verdict.wrong.push(`payment ${id}: ${succeeded} successes audited`);
	}
	for (const [id, session] of sessions) {
		const status = String(session['status']);
		const begun = BEGUN.includes(status);
		expect('session.created', id, [1]);
		expect('session.activated', id, [begun ? 1 : 0]);
		expect('session.expired', id, [status === 'expired' ? 1 : 0]);
		expect('session.ended', id, [status === 'ended' ? 1 : 0]);
		// One that was cancelled in time may have begun all the same, with money that came late.
		expect('session.cancelled', id, status === 'cancelled' ? [1] : begun ? [0, 1] : [0]);
	}
}
