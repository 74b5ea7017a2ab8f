import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { expect } from 'vitest';
import { numberEnding } from '../support/api/api.ts';
import { assertContract, type ReceivedResponse } from '../support/api/contract-assertions.ts';
import type { Fixture } from '../support/server/fixture.ts';
import { makeVouchers } from '../support/pages/vouchers.ts';
import type { WildRequest } from './requests.ts';
import type { Placeholder } from './values.ts';

/**
 * Sends wild requests to a fixture and holds every answer against the contract (contract-assertions.ts), and every refusal
 * against the database: what is refused changes nothing. One request after the other, so that what changed in
 * between is what the request did.
 */
export interface Attack {
	/** @throws AssertionError when the answer breaks a rule */
	send(wild: WildRequest): Promise<void>;
	/** Answers so far, by operation and status, e.g. `createSession 201`. */
	tally: ReadonlyMap<string, number>;
	stop(): void;
}

/** The payer never answers: nothing happens by itself between two requests. */
const SILENT = '003';
/** Ids that a placeholder stands for are drawn from the newest ones. */
const POOL_SIZE = 20;
const OWN_ROUTERS = 5;
const VOUCHERS = 100;

export async function startAttack({ server, sql, other, newKey }: Fixture): Promise<Attack> {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const owner = await newKey({ role: 'owner' });
	const app = await newKey({ role: 'app', accountId: owner.accountId });
	await sql.run('update routers set owner_account_id = ? where id <= ?', owner.accountId, OWN_ROUTERS);
	/** Amounts of the sessions that were made here, by id. */
	const amounts = new Map<number, number>();
	const foreign = await other.createSession({ phone: numberEnding(SILENT) });
	const foreignPayment = await other.pay(foreign);
	const first = await owner.api.createSession({ phone: numberEnding(SILENT) });
	amounts.set(first.id, first.amount);
	const ownSessions = [first.id];
	const ownPayments = [(await owner.api.pay(first)).id];
	const batch = await makeVouchers(owner.api, OWN_ROUTERS, VOUCHERS);
	/** An active offer of each router of the caller. */
	const offers = new Map<number, number>();
	const tally = new Map<string, number>();
	let sent = 0;
	let before = await digest();

	/** State that only requests change. Time may move an unpaid order on, so open and timed-out ones count as one. */
	async function digest(): Promise<string> {
		const rows = await sql.all(`
			select 'sessions ' || status as what, count(*) as n, sum(id) as s from sessions
				where status in ('active', 'ended') or status_reason = 'client_cancelled' group by status
			union all select 'orders', count(*), max(id) from sessions
			union all select 'payments', count(*), max(id) from payments
			union all select 'routers', sum(price_minor), max(updated_at) from routers
			union all select 'prices', count(*), max(id) from price_changes
			union all select 'answers', count(*), max(created_at) from idempotent_answers
			union all select 'webhooks ' || status || ' ' || events, count(*), max(updated_at) from webhook_endpoints
				group by status, events
			union all select 'events', count(*), max(created_at) from events where type = 'session.created'
			union all select 'deliveries', count(*), max(id) from webhook_deliveries where type = 'session.created'
			union all select 'vouchers ' || status, count(*), max(id) from vouchers group by status
			union all select 'batches', count(*), max(id) from voucher_batches
			union all select 'purchases', count(*), max(updated_at) from purchases
			union all select 'accounts ' || role || ' ' || plan || ' ' || status, count(*), max(id) from accounts
				group by role, plan, status
			union all select 'keys', count(*), count(revoked_at) + max(id) from api_keys
			order by 1`);
		return JSON.stringify(rows.map((row) => Object.values(row).map(String)));
	}

	const pick = (pool: readonly number[]) => pool.at(-1 - (sent % Math.min(POOL_SIZE, pool.length))) ?? 0;

	const VALUES: Readonly<Record<Placeholder, () => string>> = {
		ownSession: () => String(pick(ownSessions)),
		foreignSession: () => String(foreign.id),
		ownPayment: () => String(pick(ownPayments)),
		foreignPayment: () => String(foreignPayment.id),
		ownOffer: () => String(offers.get(1 + (sent % OWN_ROUTERS)) ?? 1),
		ownBatch: () => String(batch.id),
		ownVoucher: () => `"${batch.codes[sent % VOUCHERS]?.code}"`,
		ownRouter: () => String(1 + (sent % OWN_ROUTERS)),
		foreignRouter: () => String(OWN_ROUTERS + 1 + (sent % 15)),
		mobile: () => `"+25677${String(sent % 10_000).padStart(4, '0')}${SILENT}"`,
		amount: () => String(amounts.get(pick(ownSessions)) ?? 0)
	};
	const resolve = (text: string) =>
		text.replace(/\{(\w+)\}/g, (whole, name: string) => VALUES[name as Placeholder]?.() ?? whole);

	return {
		tally,
		stop: () => agent.destroy(),
		async send(wild) {
			sent += 1;
			const { key } = sent % 4 === 0 ? app : owner;
			const answer = await exchange(agent, server.port, {
				...wild,
				path: resolve(wild.path),
				body: wild.body === null ? null : resolve(wild.body),
				headers: { ...wild.headers, authorization: `Bearer ${key}` }
			});
			const name = `${wild.operationId ?? 'nothing'} ${answer.status}`;
			tally.set(name, (tally.get(name) ?? 0) + 1);
			assertContract(answer);
			expect(answer.status, `${answer.path} ${JSON.stringify(answer.body)}`).not.toBe(500);
			const after = await digest();
			if (answer.status >= 400) expect(after, `${answer.method} ${answer.path} was refused`).toBe(before);
			before = after;
			if (wild.operationId === 'setRouterOffers' && answer.status === 200) {
				const { data } = answer.body as { data: { id: number; active: boolean }[] };
				const router = Number(/routers\/(\d+)\//.exec(answer.path)?.[1]);
				offers.set(router, data.find(({ active }) => active)?.id ?? 1);
			}
			if (answer.status !== 201) return;
			const { id, amount } = Object(answer.body) as { id: number; amount: number };
			if (wild.operationId === 'createSession') {
				ownSessions.push(id);
				amounts.set(id, amount);
			}
			if (wild.operationId === 'startMobileMoneyPayment') ownPayments.push(id);
		}
	};
}

/** One request over a bare connection: nothing tidies up what is sent. */
async function exchange(agent: Agent, port: number, wild: WildRequest): Promise<ReceivedResponse> {
	const { method, path, headers } = wild;
	const body = wild.body === null ? null : Buffer.from(wild.body, 'latin1');
	const outgoing = request({
		agent,
		port,
		host: '127.0.0.1',
		method,
		path,
		headers: body === null ? headers : { ...headers, 'content-length': String(body.length) }
	});
	outgoing.end(body ?? undefined);
	const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
	const chunks: Buffer[] = [];
	for await (const chunk of response) chunks.push(chunk as Buffer);
	const text = Buffer.concat(chunks).toString();
	const received = new Headers();
	for (const [name, values = []] of Object.entries(response.headersDistinct)) {
		for (const value of values) received.append(name, value);
	}
	// The contract's route for it is looked up as the server reads it: `/v1/./routers` is `/v1/routers`.
	const { pathname, search } = new URL(`http://airtill.invalid${path}`);
	return {
		method,
		path: pathname + search,
		status: response.statusCode ?? 0,
		headers: received,
		body: text === '' ? '' : JSON.parse(text)
	};
}
