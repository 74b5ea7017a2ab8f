import { afterAll, beforeAll } from 'vitest';
import { OPERATORS, type OperatorFacts } from '../../simulators/protocols.ts';
import type { Script } from '../../simulators/script.ts';
import type { Payment, Session } from '../api/api.ts';
import { decideReview } from '../pages/administrator.ts';
import { eventually } from '../server/fixture.ts';
import { startOperated, type OperatedFixture } from './operators.ts';

/** Starts a server and the simulator of an operator, for payments that need time or a person. */
export function useOperated(operator: string | OperatorFacts, database: string) {
	const facts = typeof operator === 'string' ? factsOf(operator) : operator;
	let operated: OperatedFixture;
	beforeAll(async () => {
		operated = await startOperated(facts, database);
	});
	afterAll(() => operated.stop());

	const api = () => operated.fixture.api;
	const find = (payment: Payment) => api().getPayment(payment.id);
	const questions = (payment: Payment) =>
		operated.fixture.sql.all(
			'select id, reason, detail from reviews where payment_id = ? and resolved_at is null order by id',
			payment.id
		);
	return {
		operated: () => operated,
		find,
		/** Starts a payment, of a new session unless one is given, that goes as the script says. */
		async pay(script: Partial<Script>, of?: Session): Promise<{ session: Session; payment: Payment }> {
			const session =
				of ?? (await api().createSession({ payment_method: facts.method, phone: operated.newPhone() }));
			operated.simulator.script({ phone: session.phone.slice(1) }, { guards: false, ...script });
			return { session, payment: await api().pay(session) };
		},
		/** Waits until the operator's answer to the request of a payment is stored. */
		accepted: ({ id }: Payment) =>
			eventually(`payment ${id} is accepted`, () =>
				operated.fixture.sql.count(
					"select count(*) from payments where id = ? and submit_state = 'accepted'",
					id
				)
			),
		/** The operator's entry of a payment. */
		held: ({ phone }: Payment) =>
			eventually('the operator has it', async () =>
				operated.simulator.books.payments.find((entry) => phone.endsWith(entry.phone.slice(-9)))
			),
		async until(payment: Payment, status: Payment['status'], stepMs = 30_000, most = 60): Promise<Payment> {
			for (let step = 0; step < most; step += 1) {
				const found = await find(payment);
				if (found.status === status) return found;
				await operated.advance(stepMs);
			}
			return eventually(`payment ${payment.id} is ${status}`, async () => {
				const found = await find(payment);
				return found.status === status && found;
			});
		},
		questions,
		/** How often the log says that a callback of a payment could not be read. */
		unread: ({ id }: Payment) =>
			operated.fixture.server
				.stderr()
				.split('\n')
				.filter((line) => line.includes('callback cannot be read') && line.includes(`"payment":${id},`))
				.length,
		/** Waits for a review of a payment. */
		question: (payment: Payment) =>
			eventually(`payment ${payment.id} is for a person`, async () => (await questions(payment))[0]),
		/** A person decides on the page. */
		resolve: (id: unknown, decision: string, transaction?: string) =>
			decideReview(operated.fixture.server, id, decision, transaction)
	};
}

function factsOf(name: string): OperatorFacts {
	const facts = OPERATORS.find((one) => one.name === name);
	if (!facts) throw new Error(`There is no ${name}`);
	return facts;
}
