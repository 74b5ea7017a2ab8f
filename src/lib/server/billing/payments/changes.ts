import { EventEmitter, once } from 'node:events';
import { waitOutside } from '#lib/server/http/turns.ts';

/** Wakes requests that wait for a payment. Other processes announce nothing here, so waiters also poll. */
export type Changes = ReturnType<typeof createChanges>;

const nameOf = (paymentId: number) => `payment ${paymentId}`;

export function createChanges() {
	const emitter = new EventEmitter().setMaxListeners(0);
	let waiting = 0;
	let stopped = false;

	return {
		/** Call it after the commit. */
		announce(paymentId: number): void {
			emitter.emit(nameOf(paymentId));
		},
		/** Resolves on the next announcement, after `timeoutMs`, or when `signal` aborts. */
		async next(paymentId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
			if (stopped) return;
			const ended = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
			waiting += 1;
			await waitOutside(once(emitter, nameOf(paymentId), { signal: ended })).catch(() => {});
			waiting -= 1;
		},
		get waiting() {
			return waiting;
		},
		/** True once the process stops: nothing may wait. */
		get stopped() {
			return stopped;
		},
		/** Releases all waiters, also future ones. */
		stop(): void {
			stopped = true;
			// `once` also listens for errors, which nothing emits here.
			for (const name of emitter.eventNames()) if (name !== 'error') emitter.emit(name);
		}
	};
}
