/** Wakes requests that wait for a payment. Other processes announce nothing here, so waiters also poll. */
export type Changes = ReturnType<typeof createChanges>;

export function createChanges() {
	const waiters = new Map<number, Set<() => void>>();
	let waiting = 0;
	let stopped = false;

	return {
		announce(paymentId: number): void {
			for (const wake of [...(waiters.get(paymentId) ?? [])]) wake();
		},
		/** Resolves on the next announcement, after `timeoutMs`, or when `signal` aborts. */
		next(paymentId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
			if (stopped || signal.aborted) return Promise.resolve();
			return new Promise((resolve) => {
				const own = waiters.get(paymentId) ?? new Set();
				const wake = () => {
					clearTimeout(timer);
					signal.removeEventListener('abort', wake);
					own.delete(wake);
					if (own.size === 0) waiters.delete(paymentId);
					waiting -= 1;
					resolve();
				};
				const timer = setTimeout(wake, timeoutMs);
				signal.addEventListener('abort', wake);
				own.add(wake);
				waiters.set(paymentId, own);
				waiting += 1;
			});
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
			for (const own of [...waiters.values()]) for (const wake of [...own]) wake();
		}
	};
}
