import {
	ApiProblem,
	ApiUnavailable,
	type ApiClient,
	type Calls,
	type ReadsOfPurchases
} from './api-client.ts';
import type { Clock } from '../platform/clock.ts';

type Router = Awaited<ReturnType<Calls['getRouter']>>;
type Session = Awaited<ReturnType<Calls['getSession']>>;
type Payment = Awaited<ReturnType<Calls['getPayment']>>;

/** Covers a page and the response that led to it. */
const MOMENT_MS = 2_000;
/** Routers rarely change, and the API refuses an order with an old price. */
const ROUTER_MS = 30_000;
/** While a payment is pending, only that payment changes its session. */
const WAITING_MS = 30_000;
/** While the API is unavailable, an old router is better than a page without the form. */
const OLD_ROUTER_MS = 60 * 60 * 1000;
const MAX_KEPT = 2_000;

export type ApiMemory = ReturnType<typeof createApiMemory>;

/**
 * Remembers responses of a remote API, because its rate limit counts each call. Only pages read from here:
 * decisions about money ask the API itself, which refuses outdated requests.
 * @returns what makes a client remember
 */
export function createApiMemory(clock: Clock) {
	const routers = new Shelf<Router>(clock);
	const sessions = new Shelf<Session>(clock);
	const payments = new Shelf<Payment>(clock);

	function keepPayment(payment: Payment): Payment {
		// A payment with a new status has changed its session too.
		if (payments.get(payment.id, Infinity)?.status !== payment.status) sessions.delete(payment.session_id);
		return payments.set(payment);
	}

	function startedPayment(payment: Payment): Payment {
		const session = sessions.get(payment.session_id, WAITING_MS);
		if (session) sessions.set({ ...session, payment_id: payment.id });
		return payments.set(payment);
	}

	function recentSession(id: number): Session | null {
		const session = sessions.get(id, WAITING_MS);
		const payment = session?.payment_id == null ? null : payments.get(session.payment_id, MOMENT_MS);
		return payment?.status === 'pending' ? session : sessions.get(id, MOMENT_MS);
	}

	/** Forgets first: after a failed change the state is unknown. A pass ends with all its sessions. */
	async function changing(id: number, work: Promise<Session>): Promise<Session> {
		forgetPassOf(sessions.get(id, Infinity));
		sessions.delete(id);
		const changed = await work;
		forgetPassOf(changed);
		return sessions.set(changed);
	}

	function forgetPassOf(session: Session | null): void {
		if (session?.pass_id != null) sessions.deleteWhere(({ pass_id }) => pass_id === session.pass_id);
	}

	return (client: Calls): ApiClient => {
		const getRouter = async (id: number) => routers.set(await client.getRouter(id));
		const getSession = async (id: number) => sessions.set(await client.getSession(id));
		const getPayment = async (id: number, waitSeconds?: number) =>
			keepPayment(await client.getPayment(id, waitSeconds));
		const recent: ReadsOfPurchases = {
			async getRouter(id) {
				try {
					return routers.get(id, ROUTER_MS) ?? (await getRouter(id));
				} catch (error) {
					const old = error instanceof ApiUnavailable ? routers.get(id, OLD_ROUTER_MS) : null;
					if (old) return old;
					throw error;
				}
			},
			getSession: async (id) => recentSession(id) ?? getSession(id),
			getPayment: async (id) => payments.get(id, MOMENT_MS) ?? getPayment(id)
		};
		return {
			...client,
			recent,
			getRouter,
			getSession,
			getPayment,
			async createSession(order, key) {
				try {
					return sessions.set(await client.createSession(order, key));
				} catch (error) {
					// The router may be offline, or its times and payment methods may have changed.
					if (error instanceof ApiProblem) routers.delete(order.router_id);
					throw error;
				}
			},
			endSession: (id) => changing(id, client.endSession(id)),
			cancelUnpaid: (id) => changing(id, client.cancelUnpaid(id)),
			async startPayment(order, key) {
				try {
					return startedPayment(await client.startPayment(order, key));
				} catch (error) {
					// It may have started all the same.
					sessions.delete(order.session_id);
					throw error;
				}
			}
		};
	};
}

class Shelf<T extends { id: number }> {
	readonly #clock: Clock;
	readonly #kept = new Map<number, { body: T; at: number }>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	get(id: number, withinMs: number): T | null {
		const found = this.#kept.get(id);
		const age = found ? this.#clock.now() - found.at : Infinity;
		return found && age < withinMs ? found.body : null;
	}

	set(body: T): T {
		this.#kept.delete(body.id);
		this.#kept.set(body.id, { body, at: this.#clock.now() });
		if (this.#kept.size > MAX_KEPT) {
			const [oldest] = this.#kept.keys();
			if (oldest !== undefined) this.#kept.delete(oldest);
		}
		return body;
	}

	delete(id: number): void {
		this.#kept.delete(id);
	}

	deleteWhere(matches: (body: T) => boolean): void {
		for (const [id, { body }] of this.#kept) if (matches(body)) this.#kept.delete(id);
	}
}
