import { ANY_AMOUNT } from '#lib/domain/payment-methods.ts';
import type { Base } from '../../base.ts';
import type { Database } from '../../db/database.ts';
import type { Row } from '../../db/schema.ts';
import { NO_HINT, unavailable } from './client.ts';
import type {
	AttemptReference,
	ConfiguredOperator,
	FailureReason,
	OperatorAdapter,
	PaymentRequest,
	StatusOutcome,
	SubmitOutcome
} from './operator.ts';

/**
 * Sandbox operator: test money with its own records. It uses the same outbox, callbacks and status reads as
 * others. The last digits of the payer's number decide its answer.
 */

const OUTAGE_MS = 30_000;
const RESULT_DELAY_MS = 1_000;
/** From the payment's expiry to a late success. */
const LATE_MS = 20_000;
const CALLBACK_TIMEOUT_MS = 5_000;
/** Longer waits are left to status reads: a timer does not outlive the process. */
const MAX_TIMER_MS = 20 * 60 * 1000;

/** For trying the statement check in a sandbox. */
export const SANDBOX_STATEMENT = {
	id: 'sandbox',
	statement: {
		reference: ['Reference'],
		providerReference: ['Transaction'],
		amount: ['Amount'],
		status: null
	}
} as const satisfies Pick<ConfiguredOperator, 'id' | 'statement'>;

interface SandboxContext extends Base {
	/** Of pending callbacks. */
	timers: Set<NodeJS.Timeout>;
}

export function createSandboxOperator(base: Base) {
	const { database, clock } = base;
	const timers = new Set<NodeJS.Timeout>();
	const context: SandboxContext = { ...base, timers };
	const adapter: OperatorAdapter = {
		id: 'sandbox',
		capabilities: { minStatusDelaySeconds: 3, resubmitSameReferenceSafe: true },
		takesNumber: () => true,
		amounts: () => ANY_AMOUNT,
		submit: (request) => submit(context, request),
		readStatus: (attempt) => readStatus(context, attempt),
		async parseCallback({ body }) {
			const claimed = /"status"\s*:\s*"(succeeded|failed|pending)"/.exec(body)?.[1];
			return claimed === undefined ? NO_HINT : { ...NO_HINT, claimed: claimed as 'succeeded' };
		},
		async refund({ reference, payment, amountMinor, currency }) {
			await insertRefund(database, {
				reference,
				charge_reference: payment.reference,
				amount_minor: amountMinor,
				currency,
				created_at: clock.now()
			});
			return QUEUED;
		},
		readRefund: (refund) => readRefund(context, refund),
		disburse: async () => QUEUED,
		async readPayout({ reference, submittedAt, phone }) {
			const at = (submittedAt ?? clock.now()) + RESULT_DELAY_MS;
			if (clock.now() < at) return PENDING;
			const raw = '{"status":"ended"}';
			if (phone.endsWith('001')) return { kind: 'failed', reason: 'payer_rejected', message: 'Sandbox', raw };
			const money = { amountMinor: null, currency: null };
			return { kind: 'succeeded', providerReference: formatTransaction(reference), ...money, at, raw };
		},
		health: async () => null
	};
	return {
		...adapter,
		/** Drops pending callbacks, as a crash would. */
		stop() {
			for (const timer of timers) clearTimeout(timer);
			timers.clear();
		}
	};
}

const QUEUED: SubmitOutcome = { kind: 'accepted', operatorReference: null, raw: '{"status":"queued"}' };
const PENDING: StatusOutcome = { kind: 'pending', raw: '{"status":"pending"}' };
const NOT_FOUND: StatusOutcome = { kind: 'not_found', raw: '{"status":"not_found"}' };

function computeResult(charge: Charge): { at: number; result: NonNullable<Scenario['result']> } | null {
	const { result, resultAfter } = scenarioFor(charge.phone);
	const since = charge.queued_at;
	if (result === null || since === null) return null;
	const instants = {
		at_once: since,
		one_second: since + RESULT_DELAY_MS,
		payment_expiry: charge.payment_expires_at + LATE_MS
	};
	return { result, at: instants[resultAfter] };
}

function computeStatus({ clock }: SandboxContext, charge: Charge): StatusOutcome {
	const known = computeResult(charge);
	if (known === null || clock.now() < known.at) return PENDING;
	const { result, at } = known;
	if (result.kind === 'failed') {
		const { reason } = result;
		const raw = JSON.stringify({ status: 'failed', reason });
		return { kind: 'failed', reason, message: `Sandbox: ${reason}`, raw };
	}
	const providerReference = formatTransaction(charge.reference);
	const amountMinor = charge.amount_minor * result.amountFactor;
	const raw = JSON.stringify({ status: 'succeeded', transaction: providerReference, amount: amountMinor });
	return { kind: 'succeeded', providerReference, amountMinor, currency: charge.currency, at, raw };
}

const formatTransaction = (reference: string) =>
	`SBX${reference.replaceAll('-', '').slice(0, 12).toUpperCase()}`;

async function callBack(context: SandboxContext, charge: Charge): Promise<void> {
	try {
		const response = await fetch(charge.callback_url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ reference: charge.reference, status: computeStatus(context, charge).kind }),
			redirect: 'error',
			signal: AbortSignal.timeout(CALLBACK_TIMEOUT_MS)
		});
		await response.arrayBuffer();
	} catch (error) {
		// As with a real operator, a failed callback is lost; status reads find the result.
		context.log.debug({ err: error }, 'sandbox callback not delivered');
	}
}

function callBackLater(context: SandboxContext, charge: Charge): void {
	const { clock, timers } = context;
	const at = computeResult(charge)?.at;
	if (at === undefined || at - clock.now() > MAX_TIMER_MS) return;
	const call = () => {
		timers.delete(timer);
		void callBack(context, charge);
	};
	const timer = setTimeout(call, Math.max(0, at - clock.now()));
	timers.add(timer.unref());
}

async function submit(context: SandboxContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { database, clock } = context;
	const scenario = scenarioFor(request.payerPhone);
	const now = clock.now();
	let charge = await insertCharge(database, {
		reference: request.reference,
		phone: request.payerPhone,
		amount_minor: request.amountMinor,
		currency: request.currency,
		callback_url: request.callbackUrl,
		payment_expires_at: request.expiresAt,
		first_seen_at: now,
		queued_at: scenario.submit === 'down_at_first' ? null : now
	});
	if (charge.queued_at === null) {
		if (now < charge.first_seen_at + OUTAGE_MS) return { kind: 'uncertain', raw: 'down' };
		const queued = database.db.updateTable('sandbox_charges').set({ queued_at: now });
		await queued.where('reference', '=', charge.reference).where('queued_at', 'is', null).execute();
		charge = { ...charge, queued_at: now };
	}
	if (scenario.resultAfter === 'at_once') {
		for (let count = 0; count < scenario.callbacks; count += 1) await callBack(context, charge);
	} else if (scenario.callbacks > 0) {
		callBackLater(context, charge);
	}
	return scenario.submit === 'answer_lost' ? { kind: 'uncertain', raw: 'answer lost' } : QUEUED;
}

async function readStatus(context: SandboxContext, { reference }: AttemptReference): Promise<StatusOutcome> {
	const charge = await findCharge(context.database, reference);
	if (!charge) return NOT_FOUND;
	if (charge.queued_at !== null) return computeStatus(context, charge);
	return context.clock.now() < charge.first_seen_at + OUTAGE_MS ? unavailable('down') : NOT_FOUND;
}

async function readRefund(
	{ database, clock }: SandboxContext,
	{ reference }: AttemptReference
): Promise<StatusOutcome> {
	const refunds = database.db.selectFrom('sandbox_refunds').selectAll();
	const found = await refunds.where('reference', '=', reference).executeTakeFirst();
	if (!found) return NOT_FOUND;
	const at = found.created_at + RESULT_DELAY_MS;
	if (clock.now() < at) return PENDING;
	const { amount_minor: amountMinor, currency } = found;
	const raw = '{"status":"succeeded"}';
	return { kind: 'succeeded', providerReference: null, amountMinor, currency, at, raw };
}

/** The last three digits of the payer's number choose a scenario, so any valid mobile number can try it. */
interface Scenario {
	digits: string;
	description: string;
	result: { kind: 'succeeded'; amountFactor: number } | { kind: 'failed'; reason: FailureReason } | null;
	resultAfter: 'at_once' | 'one_second' | 'payment_expiry';
	submit: 'accepted' | 'answer_lost' | 'down_at_first';
	callbacks: 0 | 1 | 3;
}

const SUCCEEDED = { kind: 'succeeded', amountFactor: 1 } as const;
const DOUBLED = { kind: 'succeeded', amountFactor: 2 } as const;
const failed = (reason: FailureReason) => ({ kind: 'failed', reason }) as const;

/** @param differences from a success after one second */
const scenario = (digits: string, description: string, differences: Partial<Scenario> = {}): Scenario => ({
	...{ digits, description, result: SUCCEEDED },
	...{ resultAfter: 'one_second', submit: 'accepted', callbacks: 1 },
	...differences
});

const success = scenario('other', 'success after one second');

const SCENARIOS: readonly Scenario[] = [
	scenario('001', 'the payer declines', { result: failed('payer_rejected') }),
	scenario('002', 'not enough money', { result: failed('insufficient_funds') }),
	scenario('003', 'no response; the payment expires', { result: null, callbacks: 0 }),
	scenario('004', 'expires, then succeeds late', { resultAfter: 'payment_expiry' }),
	scenario('005', 'the response to the request is lost, then success', { submit: 'answer_lost' }),
	scenario('006', 'the operator is down for 30 s, then success', { submit: 'down_at_first' }),
	scenario('007', 'success without a callback', { callbacks: 0 }),
	scenario('008', 'success with three callbacks, the first before the response', {
		resultAfter: 'at_once',
		callbacks: 3
	}),
	scenario('009', 'success with a different amount; the payment is refunded', { result: DOUBLED })
];

export const TEST_NUMBERS: readonly Pick<Scenario, 'digits' | 'description'>[] = [...SCENARIOS, success];

const scenarioFor = (phone: string): Scenario =>
	SCENARIOS.find(({ digits }) => phone.endsWith(digits)) ?? success;

/** The sandbox's records outlive the process, like a real operator's. */

type Charge = Row<'sandbox_charges'>;
type Refund = Row<'sandbox_refunds'>;

const findCharge = (database: Database, reference: string): Promise<Charge | undefined> =>
	database.db.selectFrom('sandbox_charges').selectAll().where('reference', '=', reference).executeTakeFirst();

/** @returns the first one with this reference */
const insertCharge = (database: Database, charge: Charge): Promise<Charge> =>
	database.db
		.insertInto('sandbox_charges')
		.values(charge)
		.onConflict((conflict) => conflict.column('reference').doUpdateSet({ reference: charge.reference }))
		.returningAll()
		.executeTakeFirstOrThrow();

const insertRefund = (database: Database, refund: Refund) =>
	database.db
		.insertInto('sandbox_refunds')
		.values(refund)
		.onConflict((conflict) => conflict.column('reference').doNothing())
		.execute();
