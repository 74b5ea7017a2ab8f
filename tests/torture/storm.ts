/**
 * Buyers who do what buyers do: click twice, try again when no answer came, change their mind, walk away. They note
 * what they were promised; whatever was answered to them must still be true at the end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Simulator } from '../simulators/simulator.ts';
import type { Client, Heard } from './client.ts';
import type { TorturedOperator } from './operators.ts';
import { pick, randomScript, whole, type Chance } from './scripts.ts';

export interface Promises {
	/** Ids of sessions and payments that were confirmed to somebody. */
	sessions: Set<number>;
	payments: Set<number>;
	/** Sessions that somebody was told are cancelled or ended. */
	cancelled: Set<number>;
	ended: Set<number>;
	/** Answers that were wrong by themselves. */
	complaints: string[];
}

export interface Storm {
	promises: Promises;
	/** Requests that were answered so far. */
	answers(): number;
	/** No new buyers; answers when the last one has gone. */
	stop(): Promise<void>;
}

interface StormOptions {
	client: Client;
	simulator: Simulator;
	operator: TorturedOperator;
	chance: Chance;
	routers: readonly number[];
	/** Buyers at the same time. */
	buyers: number;
}

/** Their prices are whole in every currency. */
const PAY = '/v1/payments/mobile-money';
const TRIES = 100;
const AGAIN_MS = 120;

export function startStorm({
	client: api,
	simulator,
	operator,
	chance,
	routers,
	buyers
}: StormOptions): Storm {
	const promises: Promises = {
		sessions: new Set(),
		payments: new Set(),
		cancelled: new Set(),
		ended: new Set(),
		complaints: []
	};
	let stopped = false;
	let answers = 0;
	let count = 0;

	const client: Client = {
		async send(method, path, request) {
			const heard = await api.send(method, path, request);
			if (heard.status !== 0) answers += 1;
			return heard;
		}
	};

	const nap = (most: number) => sleep(whole(chance, 0, most));

	/** Sends, and sends again while nobody answers; a key makes that harmless, and not everybody has one. */
	async function insist(path: string, body: object, key: string | null): Promise<Heard> {
		for (let tries = 1; ; tries += 1) {
			const heard = await client.send('POST', path, { body, key });
			const inVain =
				heard.status === 0 || heard.status >= 500 || heard.body['code'] === 'idempotency_key_in_use';
			if (!inVain || tries === TRIES) return heard;
			await sleep(AGAIN_MS);
		}
	}

	/** One click, or two at once, or one and another soon after. */
	async function click(path: string, body: object, key: string | null): Promise<Heard[]> {
		const kind = chance();
		if (kind < 0.6) return [await insist(path, body, key)];
		if (kind < 0.85) return Promise.all([insist(path, body, key), insist(path, body, key)]);
		const first = await insist(path, body, key);
		await nap(300);
		return [first, await insist(path, body, key)];
	}

	function confirmed(heard: Heard[], key: string | null, into: Set<number>): number | null {
		const ids = new Set(
			heard.filter(({ status }) => status === 200 || status === 201).map(({ body }) => Number(body['id']))
		);
		for (const id of ids) into.add(id);
		if (key !== null && ids.size > 1)
			promises.complaints.push(`one key, several answers: ${[...ids].join(', ')}`);
		return [...ids].at(-1) ?? null;
	}

	async function buy(index: number): Promise<void> {
		const phone = operator.phone(index);
		const orderKey = chance() < 0.5 ? `order-${index}` : null;
		const order = {
			router_id: pick(chance, routers),
			duration: pick(chance, ['1h', '2h', '1d']),
			payment_method: operator.method,
			phone
		};
		const ordered = await click('/v1/sessions', order, orderKey);
		const sessionId = confirmed(ordered, orderKey, promises.sessions);
		const session = ordered.findLast(({ body }) => body['id'] === sessionId)?.body;
		if (sessionId === null || !session) {
			const strange = ordered.find(({ status }) => status !== 0 && status < 500);
			if (strange) promises.complaints.push(`an order was refused: ${JSON.stringify(strange.body)}`);
			return;
		}
		for (let attempt = 1; attempt <= pick(chance, [1, 1, 2, 3]); attempt += 1) {
			simulator.script({ phone: phone.slice(1), times: 1 }, randomScript(chance, operator));
			const key = chance() < 0.5 ? `pay-${index}-${attempt}` : null;
			const paid = await click(PAY, { session_id: sessionId, amount: session['amount'], phone }, key);
			const paymentId = confirmed(paid, key, promises.payments);
			if (chance() < 0.15) await cancel(sessionId);
			if (chance() < 0.3) return;
			for (let looks = whole(chance, 1, 4); looks > 0; looks -= 1) {
				await nap(400);
				if (paymentId === null) continue;
				const { body } = await client.send('GET', `/v1/payments/${paymentId}/status`);
				if (body['status'] !== 'pending') break;
			}
		}
		if (chance() < 0.1) await cancel(sessionId);
	}

	async function cancel(sessionId: number): Promise<void> {
		const { status, body } = await client.send('DELETE', `/v1/sessions/${sessionId}`);
		if (status !== 200) return;
		if (body['status'] === 'cancelled') promises.cancelled.add(sessionId);
		else if (body['status'] === 'ended') promises.ended.add(sessionId);
		else promises.complaints.push(`DELETE of session ${sessionId} answers ${String(body['status'])}`);
	}

	const workers = Array.from({ length: buyers }, async () => {
		while (!stopped) {
			await buy((count += 1));
			await nap(100);
		}
	});

	return {
		promises,
		answers: () => answers,
		async stop() {
			stopped = true;
			await Promise.all(workers);
		}
	};
}
