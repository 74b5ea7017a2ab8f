/** Callbacks: sent when they are due by the operator's clock, and repeated by an operator that does so. */
import type { Books, SimulatedPayment } from '../books.ts';
import { WRITTEN, type CallbackScript } from '../script.ts';
import type { MakeCallback, OutgoingCallback, Protocol } from './protocol.ts';

const CALLBACK_TIMEOUT_MS = 5_000;
/** Interval at which due callbacks are looked for, because tests move the clock. */
export const LOOK_MS = 20;

interface Due {
	at: number;
	/** @returns whether the operator does not repeat it */
	send: () => Promise<boolean>;
	tries: number;
	/** The payment whose outcome it waits for. */
	waitsFor: SimulatedPayment | null;
}

export type Callbacks = ReturnType<typeof createCallbacks>;

export function createCallbacks(protocol: Protocol, books: Books) {
	const stopped = new AbortController();
	let due: Due[] = [];

	/** @returns the status of the answer; null when nobody answered */
	async function deliver(
		{ url, method, headers, body: text }: OutgoingCallback,
		as?: CallbackScript['as']
	): Promise<number | null> {
		try {
			const body = as === undefined ? text : WRITTEN[as](text);
			const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]);
			const response = await fetch(url, { method, headers, body, redirect: 'error', signal });
			await response.arrayBuffer();
			return response.status;
		} catch {
			return null;
		}
	}

	async function send(payment: SimulatedPayment, how: CallbackScript): Promise<number | null> {
		let status: number | null = null;
		for (let count = 0; count < how.times; count += 1) {
			const outcome = how.alter === 'forged_success' ? 'success' : books.outcomeOf(payment);
			const outgoing = await protocol.callback(payment, outcome, how, books);
			if (!outgoing) return null;
			status = await deliver(how.alter === 'garbage' ? { ...outgoing, body: '<oops' } : outgoing, how.as);
		}
		return status;
	}

	function add(payment: SimulatedPayment, how: CallbackScript, from: number): void {
		due.push({
			at: from + how.afterMs,
			send: async () => (await send(payment, how)) === 200 || how.alter !== undefined,
			tries: 0,
			waitsFor: how.when === 'at_outcome' ? payment : null
		});
	}

	const looking = setInterval(() => {
		const now = books.now();
		const ready = due.filter(({ at }) => at <= now);
		due = due.filter(({ at }) => at > now);
		for (const one of ready) {
			void one.send().then((isDone) => {
				const delay = isDone ? undefined : protocol.callbackRetriesMs?.[one.tries];
				if (delay !== undefined) due.push({ ...one, at: books.now() + delay, tries: one.tries + 1 });
			});
		}
	}, LOOK_MS);

	return {
		send,
		/** Plans the callbacks of a new payment; those before the answer are sent here. */
		async plan(payment: SimulatedPayment): Promise<void> {
			const outcomeAt = books.outcomeAt(payment);
			for (const how of payment.script.callbacks) {
				if (how.when === 'before_answer' && how.afterMs === 0) await send(payment, how);
				else if (how.when === 'before_answer') add(payment, how, payment.queuedAt);
				else if (outcomeAt !== null) add(payment, how, outcomeAt);
			}
		},
		/** Plans the callbacks of a payment whose payer decides now. */
		decided(payment: SimulatedPayment): void {
			due = due.filter(({ waitsFor }) => waitsFor !== payment);
			for (const how of payment.script.callbacks) {
				if (how.when === 'at_outcome') add(payment, how, books.now());
			}
		},
		later(afterMs: number, make: MakeCallback): void {
			const sendMade = async () => {
				const outgoing = await make();
				return outgoing === null || (await deliver(outgoing)) === 200;
			};
			due.push({ at: books.now() + afterMs, send: sendMade, tries: 0, waitsFor: null });
		},
		stop(): void {
			clearInterval(looking);
			stopped.abort();
		}
	};
}
