/** The model: what each buyer has done and been told. What they are owed follows from it and from the operator's books. */
import type { SimulatedPayment } from '../simulators/books.ts';
import type { Simulator } from '../simulators/frame.ts';
import type { Receiver } from '../support/api/receiver.ts';
import type { Fixture } from '../support/server/fixture.ts';
import type { Clocks } from '../torture/time.ts';
import type { TorturedOperator } from '../torture/operators.ts';

export interface Buyer {
	phone: string;
	/** Orders, oldest first; a buyer pays for the newest one. */
	orders: Order[];
}

export interface Order {
	sessionId: number;
	amount: number;
	/** What a DELETE was answered. */
	told: 'cancelled' | 'ended' | null;
	paymentIds: Set<number>;
}

export interface Model {
	buyers: Buyer[];
}

/** What the commands act on. */
export interface Real extends Clocks {
	fixture: Fixture;
	operator: TorturedOperator;
	receiver: Receiver;
	/** How far the server's clock is behind the operator's. */
	behindMs: number;
	/** People so far, over all histories. */
	born: number;
}

export const BUYERS = 4;

export function newBuyers(real: Real): Model {
	const buyers = Array.from({ length: BUYERS }, () => ({
		phone: real.operator.phone((real.born += 1)),
		orders: []
	}));
	return { buyers };
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
