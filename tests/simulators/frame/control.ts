import type { Match } from '../books.ts';
import type { CallbackScript, Script } from '../script.ts';
import type { SimulatorAnswer, SimulatorRequest } from './protocol.ts';
import type { Outage, Simulator } from './simulator.ts';

/** Answers `/_simulator/…`: commands of tests, or of a person with curl. */
export async function control(
	simulator: Simulator,
	{ method, path, body }: SimulatorRequest
): Promise<SimulatorAnswer> {
	const { books } = simulator;
	const command = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
	const found = () =>
		books.payments.find(
			({ reference, operatorReference }) =>
				command['reference'] === reference || command['reference'] === operatorReference
		);
	switch (`${method} ${path.slice('/_simulator'.length)}`) {
		case 'GET /ledger':
			return { status: 200, body: simulator.ledger() };
		case 'GET /payments':
			return {
				status: 200,
				body: books.payments.map((payment) => ({
					reference: payment.reference,
					operator_reference: payment.operatorReference,
					phone: payment.phone,
					amount: payment.amount,
					currency: payment.currency,
					callback_url: payment.callbackUrl,
					outcome: books.outcomeOf(payment),
					taken: books.takenOf(payment)
				}))
			};
		case 'GET /refunds':
			return {
				status: 200,
				body: books.refunds.map((refund) => ({ ...refund, outcome: books.refundOutcome(refund) }))
			};
		case 'POST /scripts':
			simulator.script((command['match'] ?? {}) as Match, (command['script'] ?? {}) as Partial<Script>);
			return { status: 200, body: { ok: true } };
		case 'POST /advance':
			simulator.advance(Number(command['ms'] ?? 0));
			return { status: 200, body: { now: books.now() } };
		case 'POST /outage': {
			const outage = (command['kind'] ?? null) as Outage;
			simulator.outage(outage);
			return { status: 200, body: { outage } };
		}
		case 'POST /tokens/expire':
			simulator.expireTokens();
			return { status: 200, body: { ok: true } };
		case 'POST /portal':
			simulator.portal(command as Record<string, string>);
			return { status: 200, body: { ok: true } };
		case 'POST /settle': {
			const payment = found();
			const settled = payment !== undefined && (await simulator.settle(payment, String(command['outcome'])));
			return { status: payment ? 200 : 404, body: { settled } };
		}
		case 'POST /callbacks': {
			const payment = found();
			if (!payment) return { status: 404, body: { error: 'no such payment' } };
			const how = command['how'] as Partial<CallbackScript> | undefined;
			return { status: 200, body: { status: await simulator.callBack(payment, how) } };
		}
		default:
			return { status: 404, body: { error: `the simulator has no ${method} ${path}` } };
	}
}
