/** The model: what each person has done and been told. What they are owed follows from it and from the operator's books. */
import type { SimulatedPayment } from '../simulators/books.ts';
import type { Simulator } from '../simulators/frame.ts';
import type { Receiver } from '../support/receiver.ts';
import type { World } from '../support/world.ts';
import type { Clocks } from '../torture/time.ts';
import type { TorturedOperator } from '../torture/operators.ts';

export interface Person {
	phone: string;
	/** Orders, oldest first; a person pays for the newest one. */
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
	people: Person[];
}

/** What the commands act on. */
export interface Real extends Clocks {
	world: World;
	operator: TorturedOperator;
	receiver: Receiver;
	/** How far the server's clock is behind the operator's. */
	behindMs: number;
	/** People so far, over all histories. */
	born: number;
}

export const PEOPLE = 4;

export function newPeople(real: Real): Model {
	const people = Array.from({ length: PEOPLE }, () => ({
		phone: real.operator.phone((real.born += 1)),
		orders: []
	}));
	return { people };
}

export const currentOrder = ({ orders }: Person): Order | undefined => orders.at(-1);

/** The payments that the operator has of a person. */
export const chargesOf = (simulator: Simulator, { phone }: Person): SimulatedPayment[] =>
	simulator.books.payments.filter((charge) => phone.endsWith(charge.phone.slice(-9)));

/** Sets the server's clock right, so that both are the same again. */
export async function setClockRight(real: Real): Promise<void> {
	await real.server.advance(real.behindMs);
	real.behindMs = 0;
}
