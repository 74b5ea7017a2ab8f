/** Actions of buyers, operators, networks, clocks and administrators. Each checks what must be true at that moment. */
import fc from 'fast-check';
import type { CallbackScript } from '../simulators/script.ts';
import { sequence } from '../support/random.ts';
import { randomScript } from '../torture/scripts.ts';
import { advance, untilQuiet } from '../torture/time.ts';
import { finder } from '../torture/verdict.ts';
import {
	chargesOf,
	currentOrder,
	BUYERS,
	ByPerson,
	PAY,
	takePayment,
	setClockRight,
	type Command,
	type Model,
	type Buyer,
	type Real
} from './buyers.ts';
import { buyData, useData } from './data.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

abstract class WithOrder extends ByPerson {
	override check(model: Readonly<Model>): boolean {
		return currentOrder(this.buyerOf(model)) !== undefined;
	}
}

/** Orders time; everybody does it once at the start. */
export class PlaceOrder extends ByPerson {
	async act(buyer: Buyer, { fixture, operator }: Real): Promise<void> {
		const { id, amount } = await fixture.api.createSession({
			router_id: 1 + this.who,
			payment_method: operator.method,
			phone: buyer.phone
		});
		buyer.orders.push({ sessionId: id, amount, deleted: null, paymentIds: new Set() });
	}
	override toString = () => this.name('orders');
}

interface PayDetails {
	/** Seed of what the operator does. */
	script: number;
	clicks: number;
	keyed: boolean;
	/** Orders anew first when the last order can be paid no more. */
	renews: boolean;
}

class Pay extends WithOrder {
	readonly order: PayDetails;
	constructor(who: number, order: PayDetails) {
		super(who);
		this.order = order;
	}
	async act(buyer: Buyer, real: Real): Promise<void> {
		const { fixture, operator, simulator } = real;
		if (this.order.renews && (await this.isOver(buyer, real)))
			await new PlaceOrder(this.who).act(buyer, real);
		const order = currentOrder(buyer);
		if (!order) return;
		const { script, clicks, keyed } = this.order;
		simulator.script({ phone: buyer.phone.slice(1), times: 1 }, randomScript(sequence(script), operator));
		const body = { session_id: order.sessionId, amount: order.amount, phone: buyer.phone };
		const headers: Record<string, string> = keyed
			? { 'idempotency-key': `model-${script}-${order.sessionId}` }
			: {};
		const answers = await Promise.all(
			Array.from({ length: clicks }, () => fixture.api.send('POST', PAY, { body, headers }))
		);
		for (const answer of answers) takePayment(answer, order.paymentIds);
		const open = await fixture.sql.count(
			"select count(*) from payments where session_id = ? and status = 'pending'",
			order.sessionId
		);
		if (open > 1) throw new Error(`${open} open payments of session ${order.sessionId}`);
	}
	private async isOver(buyer: Buyer, { fixture }: Real): Promise<boolean> {
		const order = currentOrder(buyer);
		return !order || (await fixture.api.getSession(order.sessionId)).status !== 'pending_payment';
	}
	override toString = () => this.name(`pays ${JSON.stringify(this.order)}`);
}

class Cancel extends WithOrder {
	async act(buyer: Buyer, { fixture }: Real): Promise<void> {
		const order = currentOrder(buyer);
		if (!order) return;
		const { status, body } = await fixture.api.send('DELETE', `/v1/sessions/${order.sessionId}`);
		const { status: deleted, code } = Object(body) as { status?: unknown; code?: unknown };
		if (status === 200 && order.deleted === null && (deleted === 'cancelled' || deleted === 'ended'))
			order.deleted = deleted;
		else if (code !== 'session_not_active')
			throw new Error(`DELETE is answered ${status} ${JSON.stringify(body)}`);
	}
	override toString = () => this.name('cancels');
}

/** The buyer's page never says more than the operator has said. */
class Look extends WithOrder {
	async act(buyer: Buyer, { fixture, simulator }: Real): Promise<void> {
		const order = currentOrder(buyer);
		if (!order) return;
		const ids = [...order.paymentIds];
		const before = new Map<unknown, string>();
		const rows = await fixture.sql.all('select * from payments where session_id = ?', order.sessionId);
		const rowOf = finder(rows);
		for (const charge of simulator.books.payments) {
			before.set(rowOf(charge)?.['id'], simulator.books.outcomeOf(charge));
		}
		const session = await fixture.api.getSession(order.sessionId);
		if (order.deleted !== null && session.status !== order.deleted) {
			throw new Error(`session ${session.id} was ${order.deleted} and is ${session.status}`);
		}
		for (const id of ids) {
			const { status } = await fixture.api.getPayment(id);
			const outcome = before.get(id);
			const isOpen = outcome === 'pending' || outcome === 'success';
			if (status === 'failed' && isOpen)
				throw new Error(`payment ${id} failed, the operator says ${outcome}`);
			if (status === 'success' && outcome === undefined)
				throw new Error(`payment ${id} succeeded out of nothing`);
		}
	}
	override toString = () => this.name('looks');
}

/** A callback for any of the buyer's payments, whatever became of it. */
class CallBack extends ByPerson {
	readonly how: Partial<CallbackScript>;
	constructor(who: number, how: Partial<CallbackScript>) {
		super(who);
		this.how = how;
	}
	async act(buyer: Buyer, { simulator, operator }: Real): Promise<void> {
		if (this.how.alter && !operator.lies.includes(this.how.alter)) return;
		for (const charge of chargesOf(simulator, buyer).slice(-2)) await simulator.callBack(charge, this.how);
	}
	override toString = () => this.name(`is called about ${JSON.stringify(this.how)}`);
}

class Decide extends ByPerson {
	readonly pays: boolean;
	constructor(who: number, pays: boolean) {
		super(who);
		this.pays = pays;
	}
	async act(buyer: Buyer, { simulator, operator }: Real): Promise<void> {
		const undecided = chargesOf(simulator, buyer).filter(
			(charge) => simulator.books.outcomeOf(charge) === 'pending'
		);
		const refusal = operator.failures[0] ?? '';
		for (const charge of undecided) await simulator.settle(charge, this.pays ? 'success' : refusal);
	}
	override toString = () => this.name(this.pays ? 'enters the PIN' : 'refuses');
}

class Outage implements Command {
	readonly kind: 'refuse' | 'error' | null;
	constructor(kind: 'refuse' | 'error' | null) {
		this.kind = kind;
	}
	check = () => true;
	async run(_model: Model, { simulator }: Real): Promise<void> {
		simulator.outage(this.kind);
	}
	toString = () => (this.kind === null ? 'the operator works' : `the operator is down (${this.kind})`);
}

class ExpireTokens implements Command {
	check = () => true;
	async run(_model: Model, { simulator }: Real): Promise<void> {
		simulator.expireTokens();
	}
	toString = () => 'all tokens end';
}

class Pass implements Command {
	readonly ms: number;
	constructor(ms: number) {
		this.ms = ms;
	}
	check = () => true;
	async run(_model: Model, real: Real): Promise<void> {
		await advance(real, this.ms);
		await untilQuiet(real.server, real.fixture.sql);
	}
	toString = () => `${this.ms / SECOND} s pass`;
}

/** The server's clock is set back an hour, or set right again. */
class SetClock implements Command {
	readonly back: boolean;
	constructor(back: boolean) {
		this.back = back;
	}
	check = () => true;
	async run(_model: Model, real: Real): Promise<void> {
		if (!this.back || real.behindMs > 0) return setClockRight(real);
		real.behindMs = HOUR;
		await real.server.advance(-HOUR);
	}
	toString = () => (this.back ? 'the clock goes back one hour' : 'the clock is set right');
}

class Restart implements Command {
	readonly signal: 'SIGKILL' | 'SIGTERM';
	constructor(signal: 'SIGKILL' | 'SIGTERM') {
		this.signal = signal;
	}
	check = () => true;
	async run(_model: Model, { server }: Real): Promise<void> {
		await server.kill(this.signal);
		await server.restart();
	}
	toString = () => `the server is restarted (${this.signal})`;
}

const who = fc.nat({ max: BUYERS - 1 });
const ALTERED = [undefined, undefined, 'forged_success', 'wrong_amount', 'wrong_id', 'garbage'] as const;

/** Histories of at most `length` steps. */
export function histories(length: number): fc.Arbitrary<Iterable<Command>> {
	const order = who.map((index) => new PlaceOrder(index));
	const pay = fc
		.tuple(
			who,
			fc.record({
				script: fc.nat(),
				clicks: fc.constantFrom(1, 1, 2, 3),
				keyed: fc.boolean(),
				renews: fc.constantFrom(true, true, false)
			})
		)
		.map(([index, details]) => new Pay(index, details));
	const callback = fc
		.tuple(who, fc.constantFrom(...ALTERED), fc.constantFrom(1, 1, 3), fc.constantFrom('POST', 'PUT'))
		.map(([index, alter, times, method]) => {
			const how = { times, method: method === 'PUT' ? ('PUT' as const) : ('POST' as const) };
			return new CallBack(index, alter === undefined ? how : { ...how, alter });
		});
	const pass = fc
		.constantFrom(
			SECOND,
			4 * SECOND,
			20 * SECOND,
			61 * SECOND,
			5 * MINUTE,
			11 * MINUTE,
			35 * MINUTE,
			3 * HOUR
		)
		.map((ms) => new Pass(ms));
	const outage = fc.constantFrom('refuse', 'error', null, null).map((kind) => new Outage(kind));
	const decide = fc.tuple(who, fc.boolean()).map(([index, pays]) => new Decide(index, pays));
	const rare = fc.constantFrom<Command>(
		new Restart('SIGKILL'),
		new Restart('SIGTERM'),
		new SetClock(true),
		new SetClock(false),
		new ExpireTokens()
	);
	return fc.commands<Model, Real, false>(
		[
			...[buyData, buyData, useData, useData, useData],
			...[order, order, pay, pay, pay, pay, callback, callback, pass, pass, pass, decide, decide],
			...[who.map((index) => new Cancel(index)), who.map((index) => new Look(index)), outage, rare]
		],
		{ maxCommands: length, size: 'max' }
	);
}
