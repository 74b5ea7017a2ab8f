import { setTimeout as sleep } from 'node:timers/promises';
import type { Books, SimulatedPayment } from '../books.ts';
import type { RefundScript } from '../script.ts';
import type { Callbacks } from './callbacks.ts';
import type { Desk, SimulatorAnswer, Steps } from './protocol.ts';
import { DROP } from './server.ts';

/** @param stopped ends slow answers */
export function createDesk(books: Books, callbacks: Callbacks, stopped: AbortSignal): Desk {
	async function play<Queued>(
		script: RefundScript,
		{ queue, answer, refuse, rateLimited, serverError }: Steps<Queued>,
		afterQueueing: (queued: Queued) => Promise<void> = async () => {}
	): Promise<SimulatorAnswer> {
		if (script.submit === 'drop_before') return DROP;
		if (script.submit === 'error_before') return serverError();
		if (script.submit === 'rate_limited') return rateLimited();
		if (script.submit === 'refuse') return refuse(script.submitCode);
		const queued = await queue();
		await afterQueueing(queued);
		if (script.submit === 'drop_after') return DROP;
		if (script.submit === 'error_after') return serverError();
		if (script.submit === 'not_json') return { status: 200, body: '<html><body>Gateway</body></html>' };
		if (script.submit === 'slow') await sleep(script.slowMs, undefined, { signal: stopped }).catch(() => {});
		return answer(queued);
	}
	return {
		books,
		submit: (script, steps) => play(script, steps, (payment: SimulatedPayment) => callbacks.plan(payment)),
		refund: (script, steps) => play(script, steps),
		read(payment) {
			payment.reads += 1;
			const { notFoundReads, failedReads } = payment.script;
			if (payment.reads <= notFoundReads) return 'not_found';
			return payment.reads <= notFoundReads + failedReads ? 'server_error' : null;
		},
		later: callbacks.later
	};
}
