/** Money that moved after a backup, when it is restored: no payer is asked twice, and nothing goes back twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { OPERATORS as FACTS } from '../../../../simulators/protocols.ts';
import { isAll } from '../../../../support/all.ts';
import type { Payment } from '../../../../support/api/api.ts';
import { startOperated } from '../../../../support/billing/operators.ts';
import { eventually } from '../../../../support/server/fixture.ts';
import { cli } from '../../../../support/server/cli.ts';
import { openSql } from '../../../../support/database/sql.ts';
import { OPERATORS } from '../../../../torture/operators.ts';
import { advance } from '../../../../torture/time.ts';
import { compare } from '../../../../torture/verdict.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const STEP = 5 * SECOND;
/** Five processes start one after the other, which takes a busy machine most of a minute. */
const LIMIT = 4 * MINUTE;

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-restored-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Daraja takes no reference of ours, so there the restore itself must prevent a second prompt. MTN and pawaPay know a
 * refund by its reference.
 */
const CASES = [
	...FACTS.map((facts) => ({ facts, database: 'sqlite' })),
	...FACTS.filter(({ name }) => name === 'mpesa').map((facts) => ({ facts, database: 'postgres' }))
].filter(
	({ facts, database }) =>
		isAll || (database === 'postgres' ? facts.name === 'mpesa' : ['mtn', 'airtel'].includes(facts.name))
);

it.each(CASES)(
	'$facts.name on $database: after a restore a payer is prompted once and refunded once',
	async ({ facts, database }) => {
		// Without its list of payments, Daraja names a receipt only in a callback, which came before the restore.
		const settings: Record<string, string> = facts.name === 'mpesa' ? { MPESA_PULL: 'on' } : {};
		const operated = await startOperated(facts, database, settings);
		const { simulator } = operated;
		const { server, api, sql: before } = operated.fixture;
		onTestFinished(async () => {
			await server.stop();
			await simulator.stop();
		});
		const pay = async (phone: string) =>
			api.pay(await api.createSession({ phone, payment_method: facts.method }));
		/** Moves time on, and looks. */
		const until = (what: string, look: () => boolean | Promise<boolean>) =>
			eventually(what, async () => {
				await advance({ server, simulator }, STEP);
				return look();
			});
		const statusOf = async ({ id }: Payment) => (await api.getPayment(id)).status;

		/** Orders and gives up, so that a success goes back. */
		const giveUp = async (phone: string) => {
			const payment = await pay(phone);
			const accepted = "select count(*) from payments where id = ? and submit_state = 'accepted'";
			await eventually('the operator has the payment', () => before.count(accepted, payment.id));
			await api.endSession(payment.session_id, 'pending_payment');
			return payment;
		};

		// The operator is too busy for this refund.
		const busy = operated.newPhone();
		const refund = { submit: 'rate_limited' } as const;
		simulator.script({ phone: busy.slice(1) }, { guards: false, afterMs: MINUTE, refund });
		const owed = await giveUp(busy);
		await until('the operator has refused its refund', () =>
			simulator.requests.some((one) => one.method === 'POST' && /refund|reversal/.test(one.path))
		);
		const late = operated.newPhone();
		simulator.script({ phone: late.slice(1) }, { guards: false, afterMs: 2 * MINUTE });
		const refunded = await giveUp(late);
		// The operator is too busy for this payment.
		const waiting = operated.newPhone();
		simulator.script({ phone: waiting.slice(1) }, { submit: 'rate_limited' });
		const unsent = await pay(waiting);
		await until('the operator has refused it', () =>
			simulator.requests.some(({ body }) => body.includes(waiting.slice(-9)))
		);
		const file = path.join(folder, `${facts.name}-${database}`);
		expect(await cli(['backup', file], server)).toMatchObject({ code: 0 });

		simulator.script({ phone: waiting.slice(1) }, { guards: false, afterMs: 5 * MINUTE });
		await until('the other payer is prompted', () => simulator.books.payments.length === 3);
		const [held] = simulator.books.payments;
		if (held) held.script = { ...held.script, refund: {} };
		await until('the refund that waited has arrived', async () => (await statusOf(owed)) === 'refunded');
		await until('the refund has arrived', async () => (await statusOf(refunded)) === 'refunded');
		// The machine is lost.
		await server.kill();
		await before.close();
		expect(await cli(['restore', file, '--force'], server)).toMatchObject({ code: 0 });
		const sql = await openSql(server.databaseUrl);
		onTestFinished(() => sql.close());
		expect(await sql.count("select count(*) from payments where status = 'pending'")).toBe(2);
		expect(await sql.count('select count(*) from refunds')).toBe(1);
		await server.restart();

		await until('the payment has bought its time', async () => (await statusOf(unsent)) === 'success');
		// Airtel refuses a second refund, and tells no state of the first: a person reads its portal.
		const end = facts.name === 'airtel' ? 'refund_failed' : 'refunded';
		await until('the refund is booked', async () => (await statusOf(refunded)) === end);
		// MTN and pawaPay know a refund by its reference. At the others a person reads the portal.
		const asked = "select count(*) from reviews where reason = 'refund_no_final_answer'";
		await until('the refund that waited is booked, or a person is asked', async () =>
			facts.resends ? (await statusOf(owed)) === 'refunded' : (await sql.count(asked)) > 0
		);
		expect(await statusOf(owed)).toBe(facts.resends ? 'refunded' : 'refund_pending');
		expect(simulator.books.payments).toHaveLength(3);
		expect(simulator.books.refunds).toHaveLength(2);
		const operator = OPERATORS[facts.name];
		if (!operator) throw new Error(`Nothing is known of ${facts.name}`);
		expect(await compare(simulator, operator, sql)).toEqual({ lost: [], doubled: [], wrong: [] });
	},
	LIMIT
);
