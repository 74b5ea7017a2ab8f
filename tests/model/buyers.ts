/** The model: what each buyer has done, and the answers. What buyers are owed follows from it and from the operator's books. */
import type fc from 'fast-check';
import type { SimulatedPayment } from '../simulators/books.ts';
import type { Simulator } from '../simulators/simulator.ts';
import type { Answer } from '../support/api/api.ts';
import type { Receiver } from '../support/api/receiver.ts';
import type { Fixture } from '../support/server/fixture.ts';
import type { TestServer } from '../support/server/server.ts';
import type { Clocks } from '../torture/time.ts';
import type { TorturedOperator } from '../torture/operators.ts';
import type { DataOnSale } from './data.ts';

export interface Buyer {
	phone: string;
	/** Orders, oldest first; a buyer pays for the newest one. */
	orders: Order[];
	/** The number of times that devices have used data, and MB by pass. */
	uses: number;
	usedOf: Map<number, number>;
}

interface Order {
	sessionId: number;
	amount: number;
	/** The status in the response to DELETE. */
	deleted: 'cancelled' | 'ended' | null;
	paymentIds: Set<number>;
}

export interface Model {
	buyers: Buyer[];
}

/** The state that commands act on. */
export interface Real extends Clocks {
	server: TestServer;
	fixture: Fixture;
	operator: TorturedOperator;
	data: DataOnSale;
	receiver: Receiver;
	/** The operator's clock minus the server's. */
	behindMs: number;
	/** People so far, over all histories. */
	born: number;
}

export type Command = fc.AsyncCommand<Model, Real>;

export const BUYERS = 4;

export function newBuyers(real: Real): Model {
	const buyers = Array.from({ length: BUYERS }, () => ({
		phone: real.operator.phone((real.born += 1)),
		orders: [],
		uses: 0,
		usedOf: new Map<number, number>()
	}));
	return { buyers };
}

export abstract class ByPerson implements Command {
	readonly who: number;
	constructor(who: number) {
		this.who = who;
	}
	check(_model: Readonly<Model>): boolean {
		return true;
	}
	abstract act(buyer: Buyer, real: Real): Promise<void>;
	run(model: Model, real: Real): Promise<void> {
		return this.act(this.buyerOf(model), real);
	}
	buyerOf({ buyers }: Readonly<Model>): Buyer {
		const buyer = buyers[this.who];
		if (!buyer) throw new Error(`There is no buyer ${this.who}`);
		return buyer;
	}
	name(what: string): string {
		return `${'ABCDEFGH'[this.who] ?? '?'} ${what}`;
	}
}

export const currentOrder = ({ orders }: Buyer): Order | undefined => orders.at(-1);

/** The payments that the operator has of a buyer. */
export const chargesOf = (simulator: Simulator, { phone }: Buyer): SimulatedPayment[] =>
	simulator.books.payments.filter((charge) => phone.endsWith(charge.phone.slice(-9)));

/** Sets the server's clock right, so that both are the same again. */
export async function setClockRight(real: Real): Promise<void> {
	await real.server.advance(real.behindMs);
	real.behindMs = 0;
}

export const PAY = '/v1/payments/mobile-money';

/** Refusals of a payment. They charge nobody. */
const REFUSALS = [
	'payment_in_progress',
	'session_already_paid',
	'session_not_payable',
	'payment_attempts_exceeded',
	'payer_prompt_limit',
	'idempotency_key_in_use'
];

export function takePayment({ status, body }: Answer, into: Set<number>): void {
	const { id, code } = Object(body) as { id?: unknown; code?: unknown };
	if (status === 200 || status === 201) into.add(Number(id));
	else if (!REFUSALS.includes(String(code)))
		throw new Error(`a payment is answered ${status} ${JSON.stringify(body)}`);
}
