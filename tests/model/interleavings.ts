/**
 * Two transactions about one purchase at once, in an order of statements that is chosen at random. A world is one buyer at
 * one router; on it pairs of operations are played one after the other, so that they meet it in many states.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { awaitRouter, refundUnactivated, refundUnconfirmed } from '#lib/server/access/provisioning.ts';
import { createAccount } from '#lib/server/accounts/accounts.ts';
import { type App, createApp } from '#lib/server/app.ts';
import { carryOutDecision, listDecisions } from '#lib/server/billing/decisions.ts';
import { checkBooks } from '#lib/server/billing/books.ts';
import { giveExtraTime } from '#lib/server/billing/extra-time.ts';
import { orderSession, readSession } from '#lib/server/billing/session-orders.ts';
import { requestPayment } from '#lib/server/billing/payments.ts';
import { runReconcileJob, submitPayment } from '#lib/server/billing/at-operator.ts';
import { recordRefundForOwner, refundForOwner, refundPayment } from '#lib/server/billing/refunds.ts';
import { endOrCancelSession, endSessionForOwner, runSessionJob } from '#lib/server/billing/sessions.ts';
import { settleExpired, settleFailure, settleSuccess } from '#lib/server/billing/settlement.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import { insertRow } from '#lib/server/db/queries.ts';
import type { Row } from '#lib/server/db/schema.ts';
import { NO_SETTINGS, createGateway } from '#lib/server/gateways/settings.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { random } from '../support/random.ts';

type Below = (below: number) => number;

/** A transaction whose statements wait for their turn. */
interface Player {
	/** Lets its next statement go; null while none waits. */
	go: (() => void) | null;
	isDone: boolean;
	/** It has a statement to send, or is done. */
	arrived: PromiseWithResolvers<void>;
}

const PLAYER = new AsyncLocalStorage<Player>();
/** A statement that takes longer waits for a lock of the other one, or might. */
const BLOCKED_MS = 3;
const MAX_SESSIONS = 4;
const MINUTE = 60_000;

/** Makes the statements of players wait for their turn. @returns undoes it */
export function takeTurns(): () => void {
	const { query } = pg.Client.prototype;
	pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
		const send = () => (query as (...all: unknown[]) => unknown).apply(this, args);
		const player = PLAYER.getStore();
		if (!player || player.isDone) return send();
		return new Promise<void>((resolve) => {
			player.go = resolve;
			player.arrived.resolve();
		}).then(send);
	} as typeof query;
	return () => void (pg.Client.prototype.query = query);
}

/** Runs works at once. @returns how often the turn went to the other one */
async function interleave(below: Below, works: readonly (() => Promise<unknown>)[]): Promise<number> {
	// Some pairs change at each statement, others seldom.
	const stay = below(4);
	const ends: Promise<unknown>[] = [];
	const players = works.map((work) => {
		const player: Player = { go: null, isDone: false, arrived: Promise.withResolvers() };
		const end = PLAYER.run(player, work).finally(() => {
			player.isDone = true;
			player.arrived.resolve();
		});
		ends.push(end);
		return player;
	});
	const settled = Promise.allSettled(ends);
	await Promise.all(players.map(({ arrived }) => arrived.promise));
	let [turns, last]: [number, Player | null] = [0, null];
	while (players.some(({ isDone }) => !isDone)) {
		const ready = players.filter(({ go }) => go !== null);
		if (ready.length === 0) {
			const open = players.filter(({ isDone }) => !isDone);
			await Promise.race(open.map(({ arrived }) => arrived.promise));
			continue;
		}
		const stays: boolean = last !== null && ready.includes(last) && below(4) < stay;
		const next: Player | null | undefined = stays ? last : ready[below(ready.length)];
		if (!next) continue;
		if (last !== null && next !== last) turns += 1;
		last = next;
		const { go } = next;
		next.go = null;
		next.arrived = Promise.withResolvers();
		go?.();
		await Promise.race([next.arrived.promise, sleep(BLOCKED_MS)]);
	}
	for (const end of await settled) {
		if (end.status === 'rejected' && !(end.reason instanceof Refused)) throw end.reason;
	}
	return turns;
}

export type Interleavings = Awaited<ReturnType<typeof openInterleavings>>;

export async function openInterleavings(databaseUrl: string, folder: string) {
	const CLOCK = new AsyncLocalStorage<{ at: number }>();
	const start = Date.parse('2027-01-01T00:00:00Z');
	const many = { PAYER_PROMPTS: '1000', UNPAID_PROMPTS: '10000', UNPAID_PROMPTS_TOTAL: '100000' };
	const config = loadConfig({
		...{ DATABASE_URL: databaseUrl, DATA_DIR: folder, AIRTILL_LOG_LEVEL: 'silent', DATABASE_POOL: '24' },
		...many
	});
	const clock = { now: () => CLOCK.getStore()?.at ?? start };
	const app: App = await createApp(config, { clock, log: createLog('silent') });
	let worlds = 0;

	/** Plays pairs on a new world. @returns how often the turn changed */
	async function play(seed: number, pairs: number): Promise<number> {
		const time = { at: start };
		return CLOCK.run(time, async () => {
			const world = await createWorld(app, (worlds += 1), random(seed), time);
			let turns = 0;
			for (let pair = 0; pair < pairs; pair += 1) {
				const works = [world.choose(), world.choose()];
				const said = `seed ${seed}, pair ${pair}: ${works.map(({ name }) => name).join(' and ')}`;
				try {
					turns += await interleave(
						world.below,
						works.map(({ run }) => run)
					);
				} catch (error) {
					throw new Error(said, { cause: error });
				}
				const broken = await world.judge();
				if (broken.length > 0) throw new Error(`${said}: ${broken.join('; ')}`);
				world.letTimePass();
			}
			return turns;
		});
	}

	return { play, checkBooks: () => checkBooks(app.database), stop: () => app.stop() };
}

async function createWorld(app: App, number: number, below: Below, time: { at: number }) {
	const { db } = app.database;
	const email = `w${number}@tests.invalid`;
	const { id: accountId } = (await createAccount(app, { email, role: 'owner', plan: 'default' })) ?? {
		id: 0
	};
	const caller = { accountId, role: 'app' } as never;
	const by = { by: `account ${accountId}`, note: 'model' };
	const { id: routerId } = await insertRow(db, 'routers', {
		...{ owner_account_id: accountId, name: 'Model', ssid: 'Model', lat: 0, lon: 0, security: 'wpa' },
		...{ price_minor: 500, currency: 'UGX', status: 'online', payment_methods: '["mtn_momo"]' },
		...{ min_duration: '15m', max_duration: '30d', access_kind: 'portal_login' },
		...{ created_at: time.at, updated_at: time.at }
	} as never);
	if (below(2) === 0) await addGateway();
	// 007 pays by the next status read, 003 never.
	const phone = `+25677${String(number % 10_000).padStart(4, '0')}${below(2) === 0 ? '007' : '003'}`;
	const forms: string[] = [];

	/** Its users are let in by a comparison, which is not played: passes wait until they start or are refunded. */
	async function addGateway() {
		const gateway = {
			...{ ...NO_SETTINGS, name: `model-${number}`, routerId, kind: 'mikrotik', control: 'rest' },
			...{
				loginHosts: ['10.5.50.1'],
				api: 'http://127.0.0.1:9',
				apiUser: 'a',
				apiKey: 'b',
				apiInsecure: true
			}
		} as const;
		const { id } = await createGateway(app.gateways, gateway);
		if (below(2) === 0)
			await db.updateTable('gateways').set({ seen_at: time.at }).where('id', '=', id).execute();
	}

	/** Each operation is a request or a job of its own. */
	const request = () => ({ ...app, promptQueues: new Map() });
	function job() {
		const { database } = app;
		const find = (id: string) => {
			const adapter = app.operators.find(id);
			const read = adapter?.readRefund;
			if (!adapter || !read) return adapter;
			const failed = { kind: 'failed', reason: 'provider_error', message: 'failed', raw: '' } as const;
			const readRefund: typeof read = async (refund) => (below(3) === 0 ? failed : read(refund));
			return { ...adapter, readRefund };
		};
		return {
			...{ ...app, ...app.access, operators: { ...app.operators, find } },
			database: {
				db: database.db,
				transact: database.transact.bind(database),
				unfenced: database
			}
		};
	}

	async function order(extended?: number) {
		const wanted = { router_id: routerId, duration: '1h', payment_method: 'mtn_momo', phone };
		const session = await orderSession(request(), caller, {
			...wanted,
			...(extended !== undefined && { extends_session_id: extended })
		});
		await pay(session.id);
	}

	const pay = (id: number) =>
		requestPayment(request(), caller, { session_id: id, amount: 500, phone }, { accountId });

	await order();
	/** As it is between two pairs. */
	let state = await read();

	async function read() {
		const sessions = await db
			.selectFrom('sessions')
			.selectAll()
			.where('router_id', '=', routerId)
			.orderBy('id')
			.execute();
		const ids = sessions.map(({ id }) => id);
		const [payments, passes] = await Promise.all([
			db.selectFrom('payments').selectAll().where('session_id', 'in', ids).orderBy('id').execute(),
			db.selectFrom('passes').selectAll().where('router_id', '=', routerId).orderBy('id').execute()
		]);
		const refunds = await db
			.selectFrom('refunds')
			.selectAll()
			.where('payment_id', 'in', [0, ...payments.map(({ id }) => id)])
			.execute();
		return { sessions, payments, passes, refunds };
	}

	const pick = <T>(from: readonly T[]): T | undefined => from[below(from.length)];

	/** Chooses an operation and what it is about. */
	function choose(): { name: string; run(): Promise<unknown> } {
		const { sessions, payments, passes, refunds } = state;
		// Usually the newest: two operations then meet.
		const near = <T>(from: readonly T[]): T | undefined => (below(4) === 0 ? pick(from) : from.at(-1));
		const [session, payment, pass, refund] = [near(sessions), near(payments), near(passes), near(refunds)];
		const operations: { name: string; run(): Promise<unknown> }[] = [];
		/** @param isLikely otherwise it changes nothing in this state, unless the other one comes before it */
		const add = (name: string, id: number, run: () => Promise<unknown>, isLikely: boolean) => {
			if (isLikely || below(8) === 0) operations.push({ name: `${name} ${id}`, run });
		};
		if (payment) {
			const { id, status } = payment;
			const isOpen = status === 'pending' || status === 'expired' || status === 'failed';
			const succeed = {
				kind: 'succeeded',
				currency: 'UGX',
				raw: '',
				amountMinor: below(10) === 0 ? 400 : 500
			};
			const providerReference = below(8) === 0 ? `twice ${number}` : `receipt ${id}`;
			const settle = () => settleSuccess(job(), id, { ...succeed, providerReference } as never);
			for (let times = 0; times < 3; times += 1) add('settle', id, settle, isOpen);
			add('fail', id, () => settleFailure(job(), id, 'payer_rejected'), isOpen);
			add('expire', id, () => settleExpired(job(), id), status === 'pending');
			add('send', id, () => submitPayment(job(), id), status === 'pending');
			add('read status of', id, () => runReconcileJob(job(), id), isOpen);
			const its = { sessionId: payment.session_id, paymentId: id };
			const record = () => recordRefundForOwner(request(), accountId, its, by);
			add('record refund of', id, record, status === 'refund_failed');
			add('decide about', id, () => decide(payment), status !== 'success');
		}
		if (session) {
			const { id, status } = session;
			const [isActive, isUnpaid] = [status === 'active', status === 'pending_payment'];
			const hasRun = isActive || status === 'expired' || status === 'ended';
			if (sessions.length < MAX_SESSIONS) {
				add('extend', id, () => order(id), isActive);
				add('order', 0, () => order(), !isActive && !isUnpaid);
			}
			add('pay', id, () => pay(id), isUnpaid);
			add('cancel', id, () => endOrCancelSession(request(), caller, id), isActive || isUnpaid);
			add('end', id, () => endSessionForOwner(request(), accountId, id, by), isActive);
			add('run', id, () => runSessionJob(job(), id), isActive || isUnpaid);
			add('read', id, () => readSession(request(), caller, id), false);
			add('refund', id, () => refundForOwner(request(), accountId, id, by), hasRun);
			add('refund unconfirmed', id, () => refundUnconfirmed(job(), id), isActive);
			const form = (below(2) === 0 ? forms.at(-1) : undefined) ?? `form ${number} ${forms.length}`;
			forms.push(form);
			const extra = { personId: accountId, note: '', duration: '15m', form } as never;
			add('give extra time to', id, () => giveExtraTime(request(), accountId, id, extra), hasRun);
		}
		if (pass) {
			const { id, activating_until: until } = pass;
			add('await the router of', id, () => awaitRouter(job(), id), until !== null);
			add('refund unactivated', id, () => refundUnactivated(job(), id), until !== null);
		}
		if (refund)
			add('refund job of', refund.id, () => refundPayment(job(), refund.id), refund.status === 'pending');
		return pick(operations) ?? { name: 'nothing', run: () => Promise.resolve() };
	}

	async function decide(payment: Row<'payments'>): Promise<void> {
		const reviews = db.selectFrom('reviews').selectAll().where('payment_id', '=', payment.id);
		const review = pick(await reviews.where('resolved_at', 'is', null).execute());
		const decision = review && pick(listDecisions(review, payment));
		if (!review || !decision) return;
		const transaction = decision === 'paid' || decision === 'refunded' ? `by hand ${payment.id}` : null;
		await carryOutDecision(request(), review, { ...by, decision, transaction });
	}

	/** Moves on to a moment at which something is due, or almost. */
	function letTimePass(): void {
		if (below(3) > 0) {
			time.at += below(3) * 1_000;
			return;
		}
		const { sessions, payments, passes } = state;
		const moments = [
			...sessions.map(({ payment_due_at: due }) => due),
			...sessions.map(({ expires_at: at }) => at ?? 0),
			...payments.map(({ expires_at: at }) => at),
			...passes.map(({ activating_until: until }) => until ?? 0),
			time.at + 11 * MINUTE
		].filter((at) => at > time.at);
		time.at = Math.max(time.at, (pick(moments) ?? time.at) - below(2));
	}

	async function judge(): Promise<string[]> {
		state = await read();
		const { sessions, payments, passes, refunds } = state;
		const [told, audit, extra, reviews] = await Promise.all([
			db
				.selectFrom('events')
				.select(['type', 'session_id', 'payment_id'])
				.where('router_id', '=', routerId)
				.execute(),
			db
				.selectFrom('audit_log')
				.select(['action', 'payment_id'])
				.where(
					'payment_id',
					'in',
					payments.map(({ id }) => id)
				)
				.execute(),
			db
				.selectFrom('extra_time')
				.selectAll()
				.where(
					'session_id',
					'in',
					sessions.map(({ id }) => id)
				)
				.execute(),
			db
				.selectFrom('reviews')
				.select(['payment_id', 'resolved_at'])
				.where(
					'payment_id',
					'in',
					payments.map(({ id }) => id)
				)
				.execute()
		]);
		const broken: string[] = [];
		const expect = (isTrue: boolean, rule: string) => void (isTrue || broken.push(rule));

		for (const payment of payments) {
			const { id, status } = payment;
			const its = refunds.filter(({ payment_id: of }) => of === id);
			const isPaid = status === 'success' || status.startsWith('refund');
			const successes = audit.filter(
				(one) => one.payment_id === id && /^payment\.success(, not applied)?$/.test(one.action)
			);
			expect(
				successes.length === (isPaid ? 1 : 0),
				`payment ${id} is ${status}, settled ${successes.length} times`
			);
			const events = told.filter((one) => one.type === 'payment.success' && one.payment_id === id);
			expect(events.length === (isPaid ? 1 : 0), `payment ${id} is ${status}, told ${events.length} times`);
			expect(isPaid === (payment.paid_at !== null), `payment ${id} is ${status}, paid at ${payment.paid_at}`);
			expect(isPaid || its.length === 0, `payment ${id} is ${status} and has a refund`);
			const open = its.filter((one) => one.status !== 'failed');
			expect(open.length <= 1, `payment ${id} has ${open.length} refunds`);
			expect(status !== 'success' || open.length === 0, `payment ${id} is kept and refunded`);
			const pending = its.filter((one) => one.status === 'pending');
			expect(
				(status === 'refund_pending') === (pending.length === 1),
				`payment ${id} is ${status}, ${pending.length} refunds are pending`
			);
			expect(status !== 'success' || payment.applied === 1, `payment ${id} took money and bought nothing`);
			const isAsked = reviews.some((one) => one.payment_id === id && one.resolved_at === null);
			expect(status !== 'refund_failed' || isAsked, `payment ${id}: nobody returns the money`);
			const buys = sessions.find((one) => one.payment_id === id && one.id === payment.session_id);
			const isKept = status === 'success';
			expect(
				!isKept || (buys !== undefined && buys.status !== 'pending_payment'),
				`payment ${id} is kept, its session is ${buys?.status}`
			);
			expect(!isKept || buys?.status !== 'cancelled', `payment ${id} is kept, its session is cancelled`);
			const hasTime = buys?.status === 'active' || buys?.status === 'activating';
			expect(!isPaid || isKept || !hasTime, `payment ${id} is ${status}, and its session is ${buys?.status}`);
		}
		for (const session of sessions) {
			const { id, status, starts_at: from, expires_at: until } = session;
			const its = payments.filter((one) => one.session_id === id);
			const pass = passes.find((one) => one.id === session.pass_id);
			expect(
				its.filter((one) => one.status === 'pending').length <= 1,
				`session ${id} has two pending payments`
			);
			expect(its.filter((one) => one.applied === 1).length <= 1, `session ${id} was bought twice`);
			const bought = its.some((one) => one.status === 'success');
			if (status === 'active' || status === 'activating') expect(bought, `session ${id} is ${status} unpaid`);
			if (status === 'pending_payment') expect(!bought, `session ${id} is paid and waits for a payment`);
			if (status === 'activating') expect(pass?.activating_until != null, `session ${id} waits for nothing`);
			if (session.status_reason === 'payment_timeout') {
				expect(
					its.every((one) => one.status !== 'pending'),
					`session ${id} timed out while a payment is pending`
				);
			}
			if (status === 'active' || status === 'expired') {
				const free = extra.filter(
					(one) => one.session_id === id && (session.ended_at === null || one.created_at < session.ended_at)
				);
				const seconds = session.duration_seconds + free.reduce((sum, one) => sum + one.seconds, 0);
				expect(
					(until ?? 0) - (from ?? 0) === seconds * 1000,
					`session ${id} has ${(until ?? 0) - (from ?? 0)} ms for ${seconds} s`
				);
			}
			// Over, until its job runs.
			if (status === 'active' && (until ?? 0) > time.at) {
				expect(pass?.ends_at != null && pass.ends_at >= (until ?? 0), `session ${id} outlives its pass`);
				expect(pass?.password_sealed != null, `session ${id} has no password`);
			}
			// A late payment buys a session that timed out, which can then be cancelled again.
			const most = {
				'session.activated': 1,
				'session.cancelled': 2,
				'session.ended': 1,
				'session.expired': 1
			};
			for (const [type, times] of Object.entries(most)) {
				const { length } = told.filter((one) => one.type === type && one.session_id === id);
				expect(length <= times, `session ${id}: ${type} told ${length} times`);
			}
		}
		for (const pass of passes) {
			const its = sessions.filter((one) => one.pass_id === pass.id);
			const waiting = its.filter((one) => one.status === 'activating');
			expect(
				(pass.activating_until !== null) === waiting.length > 0,
				`pass ${pass.id} waits for ${waiting.length} sessions`
			);
			const active = its
				.filter((one) => one.status === 'active')
				.toSorted((one, other) => (one.starts_at ?? 0) - (other.starts_at ?? 0));
			for (const [at, one] of active.entries()) {
				const before = active[at - 1];
				// One that is over stays active until its job runs; the one after it may have expired meanwhile.
				const isOver = before !== undefined && (before.expires_at ?? 0) <= time.at;
				expect(
					before === undefined || isOver || before.expires_at === one.starts_at,
					`session ${one.id} does not follow ${before?.id}`
				);
			}
			const end = active.at(-1)?.expires_at ?? 0;
			expect(
				end <= time.at || pass.ends_at === end,
				`pass ${pass.id} ends at ${pass.ends_at}, its time at ${end}`
			);
		}
		return broken;
	}

	return { below, choose, judge, letTimePass };
}
