/**
 * SIGTERM while requests run: what runs is answered and its connection ended, nothing new is taken, and a payment that
 * was being made is made.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATORS } from '../../../simulators/protocols.ts';
import { numberEnding, orderOf, type Payment, type Session } from '../../../support/api/api.ts';
import { startOperated, type OperatedFixture } from '../../../support/billing/operators.ts';
import {
	DATABASES,
	eventually,
	runsAllOn,
	useNewFixtures,
	type NewKey
} from '../../../support/server/fixture.ts';

/** The sandbox's payer has decided by then. */
const decidedMs = 3_000;
const MINUTE = 60_000;

describe.each(DATABASES)('on %s', (database) => {
	// Empty counts as unset: the five seconds remain.
	const fixture = useNewFixtures({ database, env: { HOST: '', SHUTDOWN_TIMEOUT: '' } });
	let buyer: NewKey;
	beforeEach(async () => {
		buyer = await fixture().newKey();
	});

	interface Open {
		socket: Socket;
		/** All that came, when the server has ended the connection. */
		text: Promise<string>;
	}

	async function open(): Promise<Open> {
		const socket = connect(fixture().server.port, '127.0.0.1');
		await once(socket, 'connect');
		let text = '';
		socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
		return { socket, text: once(socket, 'close').then(() => text) };
	}

	const request = (first: string, body?: object) => {
		const text = body ? JSON.stringify(body) : '';
		const framing = body ? ['Content-Type: application/json', `Content-Length: ${text.length}`] : [];
		const head = [`${first} HTTP/1.1`, 'Host: airtill.test', `Authorization: Bearer ${buyer.key}`];
		return [...head, ...framing, '', text].join('\r\n');
	};

	const isRefused = () =>
		new Promise<boolean>((resolve) => {
			const socket = connect(fixture().server.port, '127.0.0.1');
			socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
			socket.once('connect', () => {
				socket.destroy();
				resolve(false);
			});
		});

	/** The body of the one answer on a connection. */
	function bodyOf(text: string, status: number): unknown {
		expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
		expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
		return JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
	}

	/** The body of an answer that said that its connection ends with it. */
	function lastBody(text: string, status: number): unknown {
		expect(text).toMatch(/^connection: close\r$/im);
		return bodyOf(text, status);
	}

	it('a storm of payments: each is made and answered, or not made', async () => {
		const orders = Array.from({ length: 30 }, () => orderOf({ phone: numberEnding('123') }));
		const sessions: Session[] = await Promise.all(orders.map((order) => buyer.api.createSession(order)));
		const asked = sessions.map(async ({ id, amount, phone }) => {
			const { socket, text } = await open();
			socket.on('error', () => undefined);
			socket.write(request('POST /v1/payments/mobile-money', { session_id: id, amount, phone }));
			return text.catch(() => '');
		});
		// Some are answered, some run, and some have not come in yet.
		await eventually('a payment is made', () => fixture().sql.count('select count(*) from payments'));
		await fixture().server.kill('SIGTERM');
		const answers = await Promise.all(asked);
		await fixture().server.restart();
		for (const [index, text] of answers.entries()) {
			const made = await fixture().sql.all(
				'select id from payments where session_id = ?',
				sessions[index]?.id ?? 0
			);
			expect(made).toEqual(text === '' ? [] : [{ id: (bodyOf(text, 201) as Payment).id }]);
		}
	});

	if (!runsAllOn(database)) return;

	it('a payment whose body is still on its way is made and answered; new connections are refused', async () => {
		const session = await buyer.api.createSession({ phone: numberEnding('123') });
		const body = { session_id: session.id, amount: session.amount, phone: session.phone };
		const bytes = request('POST /v1/payments/mobile-money', body);
		const paying = await open();
		paying.socket.write(bytes.slice(0, -5));
		const idle = await open();
		// An answer says that what was sent before it has arrived.
		await buyer.api.getSession(session.id);

		const ended = fixture().server.kill('SIGTERM');
		await eventually('new connections are refused', isRefused);
		expect(await idle.text).toBe('');
		paying.socket.write(bytes.slice(-5));
		const payment = lastBody(await paying.text, 201) as Payment;
		expect(payment).toMatchObject({ session_id: session.id, status: 'pending' });
		await ended;

		await fixture().server.restart();
		await fixture().asked(payment);
		await fixture().server.advance(decidedMs);
		expect(await buyer.api.getPayment(payment.id, 20)).toMatchObject({ status: 'success', applied: true });
		expect(await buyer.api.getSession(session.id)).toMatchObject({ status: 'active' });
	});

	it('waiting requests are answered at once, and their connections ended', async () => {
		const payment = await buyer.api.pay(await buyer.api.createSession({ phone: numberEnding('003') }));
		const held = await Promise.all(Array.from({ length: 3 }, open));
		// Each connection has been answered on once: from then on the server reads it before what is sent later.
		for (const { socket } of held) {
			socket.write(request(`GET /v1/payments/${payment.id}/status`));
			await once(socket, 'data');
		}
		for (const { socket } of held) socket.write(request(`GET /v1/payments/${payment.id}/status?wait=20`));
		await buyer.api.getPayment(payment.id);
		// After five seconds their connections would be cut off without an answer.
		await fixture().server.kill('SIGTERM');
		for (const { text } of held) {
			const all = await text;
			const last = all.slice(all.lastIndexOf('HTTP/1.1 '));
			expect(lastBody(last, 200)).toMatchObject({ id: payment.id, status: 'pending' });
		}
	});
});

describe('M-Pesa', () => {
	let operated: OperatedFixture;
	beforeAll(async () => {
		const facts = OPERATORS.find(({ name }) => name === 'mpesa');
		if (!facts) throw new Error('no M-Pesa');
		operated = await startOperated(facts, 'sqlite');
	});
	afterAll(() => operated.stop());

	it('a push whose answer the stop cuts off is never sent again; its callback finds it', async () => {
		const { fixture, simulator, newPhone, advance } = operated;
		const phone = newPhone();
		simulator.script({ phone: phone.slice(1) }, { submit: 'slow', outcome: 'pending' });
		const session = await fixture.api.createSession({ payment_method: 'mpesa', phone });
		const { id } = await fixture.api.pay(session);
		const { payments } = simulator.books;
		const push = await eventually('Daraja has it', async () => payments[0]);
		await fixture.server.kill('SIGTERM');
		const state = 'select count(*) from payments where id = ? and submit_state = ?';
		expect(await fixture.sql.count(state, id, 'uncertain')).toBe(1);

		await fixture.server.restart();
		await advance(MINUTE);
		expect(await fixture.api.getPayment(id)).toMatchObject({ status: 'pending' });
		await simulator.settle(push, 'success');
		await eventually('it is paid', async () => (await fixture.api.getPayment(id)).status === 'success');
		expect(await fixture.api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: id });
		expect(payments).toHaveLength(1);
		expect(simulator.requests.filter(({ path }) => path.includes('/stkpush/'))).toHaveLength(1);
	});
});
