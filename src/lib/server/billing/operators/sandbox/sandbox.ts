import { isTestOutcome, TEST_OUTCOMES, type TestOutcome } from '#lib/checkout/test-outcomes.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { ConfiguredOperator } from '../definition.ts';
import type {
	AttemptReference,
	OperatorAdapter,
	PaymentRequest,
	RefundReference,
	RefundRequest,
	StatusOutcome
} from '../operator.ts';
import { INSTRUCTED, scenarioFor, type Scenario } from './scenarios.ts';
import * as store from './store.ts';

/**
 * The sandbox operator: test money with its own records. It uses the same outbox, callback route and status reads as
 * any operator. The payer's number decides its answer (scenarios.ts), or a person in the developer area while a charge
 * is pending.
 */

const OUTAGE_MS = 30_000;
const RESULT_DELAY_MS = 1_000;
/** Delay of the late success after our own time limit. */
const LATE_MS = 20_000;
const CALLBACK_TIMEOUT_MS = 5_000;
/** Longer waits are left to status reads: a timer does not outlive the process. */
const MAX_TIMER_MS = 20 * 60 * 1000;

export interface SandboxOperator extends OperatorAdapter {
	/**
	 * Decides the result of a charge and sends the callback.
	 * @returns false if the operator does not know the charge, or its result is final
	 */
	instruct(reference: string, outcome: TestOutcome): Promise<boolean>;
	/** The decision about a charge; null while none was made, `undefined` if none is possible. */
	openTo(reference: string): Promise<TestOutcome | null | undefined>;
	/** Drops pending callbacks, as a crash would. */
	stop(): void;
}

/** Columns of a list for trying the statement check in a sandbox. */
export const SANDBOX_STATEMENT = {
	id: 'sandbox',
	statement: {
		reference: ['Reference'],
		providerReference: ['Transaction'],
		amount: ['Amount'],
		status: null
	}
} as const satisfies Pick<ConfiguredOperator, 'id' | 'statement'>;

export function createSandboxOperator(database: Database, clock: Clock, log: Log): SandboxOperator {
	const timers = new Set<NodeJS.Timeout>();

	/** The final result and when it is known; null if there is none. */
	function wordOn(charge: store.Charge): { at: number; result: NonNullable<Scenario['result']> } | null {
		const scenario = scenarioFor(charge.phone);
		const instruction = TEST_OUTCOMES.find(({ id }) => id === charge.outcome);
		const result = instruction ? INSTRUCTED[instruction.id] : scenario.result;
		if (result === null) return null;
		const late = charge.payment_expires_at + LATE_MS;
		if (instruction)
			return { result, at: (instruction.when === 'late' ? late : charge.instructed_at) ?? late };
		if (charge.queued_at === null) return null;
		if (scenario.resultAfter === 'at_once') return { result, at: charge.queued_at };
		if (scenario.resultAfter === 'one_second') return { result, at: charge.queued_at + RESULT_DELAY_MS };
		return { result, at: late };
	}

	const isFinal = (charge: store.Charge) => {
		const word = wordOn(charge);
		return word !== null && word.at <= clock.now();
	};

	function statusOf(charge: store.Charge): StatusOutcome {
		const word = wordOn(charge);
		if (word === null || clock.now() < word.at) return { kind: 'pending', raw: '{"status":"pending"}' };
		const { result, at } = word;
		if (result.kind === 'failed') {
			return {
				kind: 'failed',
				reason: result.reason,
				message: `Sandbox: ${result.reason}`,
				raw: JSON.stringify({ status: 'failed', reason: result.reason })
			};
		}
		const providerReference = `SBX${charge.reference.replaceAll('-', '').slice(0, 12).toUpperCase()}`;
		const amountMinor = charge.amount_minor * result.amountFactor;
		return {
			kind: 'succeeded',
			providerReference,
			amountMinor,
			currency: charge.currency,
			at,
			raw: JSON.stringify({ status: 'succeeded', transaction: providerReference, amount: amountMinor })
		};
	}

	async function callBack(charge: store.Charge): Promise<void> {
		try {
			const response = await fetch(charge.callback_url, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ reference: charge.reference, status: statusOf(charge).kind }),
				redirect: 'error',
				signal: AbortSignal.timeout(CALLBACK_TIMEOUT_MS)
			});
			await response.arrayBuffer();
		} catch (error) {
			// As with a real operator, a callback that fails is lost; status reads find the result.
			log.debug({ err: error }, 'sandbox callback not delivered');
		}
	}

	function callBackLater(charge: store.Charge): void {
		const at = wordOn(charge)?.at;
		if (at === undefined || at - clock.now() > MAX_TIMER_MS) return;
		const timer = setTimeout(
			() => {
				timers.delete(timer);
				void callBack(charge);
			},
			Math.max(0, at - clock.now())
		);
		timers.add(timer.unref());
	}

	async function submit(request: PaymentRequest): ReturnType<OperatorAdapter['submit']> {
		const scenario = scenarioFor(request.payerPhone);
		const now = clock.now();
		const down = scenario.submit === 'down_at_first';
		const known = await store.insertCharge(database, {
			reference: request.reference,
			phone: request.payerPhone,
			amount_minor: request.amountMinor,
			currency: request.currency,
			callback_url: request.callbackUrl,
			payment_expires_at: request.expiresAt,
			first_seen_at: now,
			queued_at: down ? null : now
		});
		if (known.queued_at === null) {
			if (now < known.first_seen_at + OUTAGE_MS) return { kind: 'uncertain', cause: 'network', raw: 'down' };
			await store.queueCharge(database, request.reference, now);
		}
		const charge = await store.findCharge(database, request.reference);
		if (!charge) throw new Error('The sandbox lost a charge');
		if (scenario.resultAfter === 'at_once') {
			for (let count = 0; count < scenario.callbacks; count += 1) await callBack(charge);
		} else if (scenario.callbacks > 0) {
			callBackLater(charge);
		}
		if (scenario.submit === 'answer_lost') return { kind: 'uncertain', cause: 'timeout', raw: 'answer lost' };
		return { kind: 'accepted', operatorReference: null, raw: '{"status":"queued"}' };
	}

	async function readStatus({ reference }: AttemptReference): Promise<StatusOutcome> {
		const charge = await store.findCharge(database, reference);
		if (!charge) return { kind: 'not_found', raw: '{"status":"not_found"}' };
		if (charge.queued_at === null) {
			return clock.now() < charge.first_seen_at + OUTAGE_MS
				? { kind: 'unavailable', cause: 'down', retryAfterSeconds: null }
				: { kind: 'not_found', raw: '{"status":"not_found"}' };
		}
		return statusOf(charge);
	}

	async function instruct(reference: string, outcome: TestOutcome): Promise<boolean> {
		const charge = await store.findCharge(database, reference);
		if (!charge || isFinal(charge)) return false;
		const now = clock.now();
		await store.queueCharge(database, reference, now);
		await store.instruct(database, { reference, outcome, now });
		const instructed = await store.findCharge(database, reference);
		if (instructed && isFinal(instructed)) await callBack(instructed);
		else if (instructed) callBackLater(instructed);
		return true;
	}

	async function openTo(reference: string): Promise<TestOutcome | null | undefined> {
		const charge = await store.findCharge(database, reference);
		if (!charge || isFinal(charge)) return undefined;
		return charge.outcome !== null && isTestOutcome(charge.outcome) ? charge.outcome : null;
	}

	async function refund(request: RefundRequest): ReturnType<OperatorAdapter['submit']> {
		await store.insertRefund(database, {
			reference: request.reference,
			charge_reference: request.payment.reference,
			amount_minor: request.amountMinor,
			currency: request.currency,
			created_at: clock.now()
		});
		return { kind: 'accepted', operatorReference: null, raw: '{"status":"queued"}' };
	}

	async function readRefund({ reference }: RefundReference): Promise<StatusOutcome> {
		const found = await store.findRefund(database, reference);
		if (!found) return { kind: 'not_found', raw: '{"status":"not_found"}' };
		const at = found.created_at + RESULT_DELAY_MS;
		if (clock.now() < at) return { kind: 'pending', raw: '{"status":"pending"}' };
		return {
			kind: 'succeeded',
			providerReference: null,
			amountMinor: found.amount_minor,
			currency: found.currency,
			at,
			raw: '{"status":"succeeded"}'
		};
	}

	return {
		id: 'sandbox',
		capabilities: {
			clientReference: 'uuid',
			statusByOurReference: true,
			statusReturnsAmount: true,
			callback: { methods: ['POST', 'PUT'], authenticity: 'none', perRequestUrl: true, answer: null },
			refund: 'full',
			payerCheck: false,
			approvalWindowSeconds: 5 * 60,
			minStatusDelaySeconds: 3,
			resubmitSameReferenceSafe: true
		},
		takesNumber: () => true,
		validate: () => [],
		submit,
		readStatus,
		async parseCallback(raw) {
			const claimed = /"status"\s*:\s*"(succeeded|failed|pending)"/.exec(raw.body)?.[1];
			return {
				claimed: (claimed as 'succeeded' | 'failed' | 'pending' | undefined) ?? 'unknown',
				authentic: 'absent',
				reference: null,
				operatorReference: null,
				providerReference: null,
				amountMinor: null,
				currency: null
			};
		},
		refund,
		readRefund,
		health: async () => ({ ok: true, reason: null }),
		instruct,
		openTo,
		stop() {
			for (const timer of timers) clearTimeout(timer);
			timers.clear();
		}
	};
}
