/** Random courses of a payment, with every fault of the simulators often enough to be met. */
import type { CallbackScript, RefundScript, Script } from '../simulators/script.ts';
import type { TorturedOperator } from './operators.ts';

/** Numbers from 0 to below 1. */
export type Chance = () => number;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Longer than the server of the torture waits for an operator (OPERATOR_TIMEOUT_SECONDS=1). */
const SLOW_MS = 1_400;

export const pick = <T>(chance: Chance, from: readonly T[]): T => {
	const picked = from[Math.floor(chance() * from.length)];
	if (picked === undefined) throw new Error('Nothing to pick from');
	return picked;
};

export const whole = (chance: Chance, from: number, to: number): number =>
	from + Math.floor(chance() * (to - from + 1));

export function randomScript(chance: Chance, operator: TorturedOperator): Partial<Script> {
	return {
		...outcome(chance, operator),
		...submit(chance, operator),
		notFoundReads: chance() < 0.15 ? whole(chance, 1, 2) : 0,
		failedReads: chance() < 0.15 ? whole(chance, 1, 3) : 0,
		amountFactor: operator.alwaysTellsAmount && chance() < 0.06 ? pick(chance, [2, 0.5]) : 1,
		callbacks: Array.from({ length: pick(chance, [0, 1, 1, 1, 2, 3]) }, () => callback(chance, operator)),
		// The operators' own guards against asking a payer twice are for people, not for storms.
		guards: false,
		otherForm: chance() < 0.2,
		refund: refund(chance, operator)
	};
}

function outcome(chance: Chance, { failures }: TorturedOperator): Pick<Script, 'outcome' | 'afterMs'> {
	const kind = chance();
	if (kind < 0.5) return { outcome: 'success', afterMs: pick(chance, [0, 0, 200, 1 * SECOND, 20 * SECOND]) };
	if (kind < 0.6) return { outcome: 'success', afterMs: whole(chance, 1, 9) * MINUTE };
	// After our time limits: the buyer's, the order's, the grace, and a day later.
	if (kind < 0.75) {
		return {
			outcome: 'success',
			afterMs: pick(chance, [11 * MINUTE, 40 * MINUTE, 55 * MINUTE, 3 * HOUR, 30 * HOUR])
		};
	}
	if (kind < 0.95)
		return { outcome: pick(chance, failures), afterMs: pick(chance, [0, 500, 30 * SECOND, HOUR]) };
	return { outcome: 'pending', afterMs: 0 };
}

function submit(
	chance: Chance,
	{ refusals }: TorturedOperator
): Pick<Script, 'submit' | 'submitCode' | 'slowMs'> {
	const said = chance() < 0.55 ? 'accept' : pick(chance, FAULTS);
	return { submit: said, submitCode: said === 'refuse' ? pick(chance, refusals) : '', slowMs: SLOW_MS };
}

const FAULTS: readonly Script['submit'][] = [
	'drop_before',
	'drop_after',
	'drop_after',
	'slow',
	'error_before',
	'error_after',
	'not_json',
	'rate_limited',
	'refuse'
];

function callback(chance: Chance, { lies }: TorturedOperator): CallbackScript {
	const alter = chance() < 0.3 ? pick(chance, lies) : null;
	return {
		when: pick(chance, ['before_answer', 'at_outcome', 'at_outcome']),
		afterMs: pick(chance, [0, 0, 50, 5 * SECOND, 30 * MINUTE, 5 * HOUR]),
		times: pick(chance, [1, 1, 1, 2, 4]),
		method: pick(chance, ['POST', 'PUT']),
		...(alter ? { alter } : {})
	};
}

/** Refunds end one day: a request that never gets through would be asked for ever. */
function refund(chance: Chance, { failures }: TorturedOperator): Partial<RefundScript> {
	return {
		outcome: chance() < 0.85 ? 'success' : pick(chance, failures),
		afterMs: pick(chance, [0, 0, SECOND, 10 * MINUTE]),
		submit:
			chance() < 0.6 ? 'accept' : pick(chance, ['drop_after', 'error_after', 'not_json', 'slow'] as const),
		slowMs: SLOW_MS,
		notFoundReads: chance() < 0.15 ? 1 : 0,
		failedReads: chance() < 0.15 ? 2 : 0
	};
}
