/** Object-level authorisation (wire format 3.5): what each kind of caller gets for another's objects. */
import { beforeEach, expect, it } from 'vitest';
import { earnings, ownerUserList } from '#lib/server/contract/owner.ts';
import { numberEnding, type Answer, type Api, type Payment, type Session } from '../../support/api/api.ts';
import { PASSWORD } from '../../support/api/wire.ts';
import { recorded, useFixture } from '../../support/server/fixture.ts';

const CALLERS = ['creator', 'router owner', 'other', 'admin'] as const;
type CallerName = (typeof CALLERS)[number];

/**
 * The matrix: for each object and caller a refusal, or `yes` with what is particular about it. `other` is another
 * account of the role that the object needs at all; where the page has a dash, the caller lacks the role.
 */
const MATRIX = {
	'router read': { creator: 'yes', 'router owner': 'yes', other: 'yes', admin: 'yes' },
	'router price': {
		creator: '403 owner_role_required',
		'router owner': 'yes',
		other: '403 not_router_owner',
		admin: 'yes'
	},
	'session read': {
		creator: 'yes, with password and number',
		'router owner': '404 session_not_found',
		other: '404 session_not_found',
		admin: 'yes, without the password'
	},
	'session DELETE': {
		creator: 'yes, as client_ended',
		'router owner': '404 session_not_found',
		other: '404 session_not_found',
		admin: 'yes, as admin_ended'
	},
	'session payment': {
		creator: 'yes',
		'router owner': '404 session_not_found',
		other: '404 session_not_found',
		admin: '404 session_not_found'
	},
	'payment status': {
		creator: 'yes',
		'router owner': '404 payment_not_found',
		other: '404 payment_not_found',
		admin: 'yes'
	},
	earnings: {
		creator: '403 owner_role_required',
		'router owner': 'yes, of its own routers',
		other: '403 owner_role_required',
		admin: 'yes, of its own routers only'
	},
	'owner users': {
		creator: '403 owner_role_required',
		'router owner': 'yes, of its own routers',
		other: '403 owner_role_required',
		admin: 'yes, of its own routers only'
	}
} as const satisfies Record<string, Record<CallerName, string>>;

type ObjectName = keyof typeof MATRIX;

const CELLS = (Object.keys(MATRIX) as ObjectName[]).flatMap((object) =>
	CALLERS.map((caller) => [object, caller, MATRIX[object][caller]] as const)
);

interface Act {
	method: string;
	path: string;
	/** The same for an object that does not exist; null where the caller names none. */
	absent: string | null;
	body?: object;
}

const fixture = useFixture({ database: 'sqlite' });
let session: Session;
let payment: Payment;
let unpaid: Session;

beforeEach(async () => {
	({ session, payment } = await fixture().buy());
	unpaid = await fixture().api.createSession({ phone: numberEnding('003') });
});

const withoutIds = ({ status, body }: Answer) => ({ status, body: { ...Object(body), request_id: null } });

const acts: Record<ObjectName, () => Act> = {
	'router read': () => ({ method: 'GET', path: '/v1/routers/3', absent: null }),
	'router price': () => ({
		method: 'PUT',
		path: '/v1/owner/routers/4/price',
		absent: null,
		body: { price: 800 }
	}),
	'session read': () => ({
		method: 'GET',
		path: `/v1/sessions/${session.id}`,
		absent: '/v1/sessions/999999'
	}),
	'session DELETE': () => ({
		method: 'DELETE',
		path: `/v1/sessions/${session.id}`,
		absent: '/v1/sessions/999999'
	}),
	'session payment': () => ({
		method: 'POST',
		path: '/v1/payments/mobile-money',
		absent: null,
		body: { amount: unpaid.amount, phone: unpaid.phone, session_id: unpaid.id }
	}),
	'payment status': () => ({
		method: 'GET',
		path: `/v1/payments/${payment.id}/status`,
		absent: '/v1/payments/999999/status'
	}),
	earnings: () => ({ method: 'GET', path: '/v1/owner/earnings', absent: null }),
	'owner users': () => ({ method: 'GET', path: '/v1/owner/users?limit=100', absent: null })
};

/** The answer to an allowed caller. */
const granted: Record<ObjectName, (answer: Answer, caller: CallerName) => void> = {
	'router read': ({ status, body }) => expect([status, body]).toMatchObject([200, { id: 3, price: 500 }]),
	'router price': ({ status, body }) => expect([status, body]).toMatchObject([200, { id: 4, price: 800 }]),
	'session read': ({ status, body }, caller) => {
		const read = body as Session;
		const isCreator = caller === 'creator';
		const password: unknown = isCreator ? expect.stringMatching(PASSWORD) : null;
		const access: unknown = isCreator ? session.access : { ...session.access, qr: null, qr_joins: null };
		expect([status, read]).toEqual([
			200,
			{ ...session, password, access, remaining_seconds: read.remaining_seconds }
		]);
		expect(read.phone).toBe(session.phone);
	},
	'session DELETE': ({ status, body }, caller) => {
		const status_reason = caller === 'creator' ? 'client_ended' : 'admin_ended';
		expect([status, body]).toMatchObject([200, { status: 'ended', status_reason, password: null }]);
	},
	'session payment': ({ status, body }) =>
		expect([status, body]).toMatchObject([201, { session_id: unpaid.id, status: 'pending' }]),
	'payment status': ({ status, body }) => expect([status, body]).toEqual([200, payment]),
	earnings: ({ status, body }, caller) => {
		const { total } = earnings.parse(body);
		expect(status).toBe(200);
		if (caller === 'admin') expect(total).toMatchObject({ sessions: 0, gross: 0 });
		else expect(total.sessions).toBeGreaterThan(0);
	},
	'owner users': ({ status, body }, caller) => {
		const ids = ownerUserList.parse(body).data.map(({ session_id }) => session_id);
		expect(status).toBe(200);
		if (caller === 'admin') expect(ids).toEqual([]);
		else expect(ids).toContain(session.id);
	}
};

/** Another account; for the price one that owns routers, too, because without the role it is another refusal. */
async function callerOf(name: CallerName, object: ObjectName): Promise<Api> {
	const { api, owner, other, admin, newKey } = fixture();
	if (name === 'other') return object === 'router price' ? (await newKey({ role: 'owner' })).api : other;
	return { creator: api, 'router owner': owner, admin }[name];
}

it.each(CELLS)('%s by %s: %s', async (object, name, expected) => {
	const { method, path, absent, body } = acts[object]();
	const caller = await callerOf(name, object);
	const request = body ? { body } : {};
	if (expected.startsWith('yes')) {
		granted[object](await caller.send(method, path, request), name);
		return;
	}
	const before = await recorded(fixture());
	await caller.refused(expected as `${number} ${string}`, method, path, request);
	if (absent !== null) {
		const [there, nowhere] = [await caller.send(method, path), await caller.send(method, absent)];
		expect(withoutIds(there)).toEqual(withoutIds(nowhere));
	}
	expect(await recorded(fixture())).toEqual(before);
});

it('earnings and users of another owner are those of its own routers: none of this one', async () => {
	const { api } = await fixture().newKey({ role: 'owner' });
	expect((await api.send('GET', '/v1/owner/earnings')).body).toMatchObject({ total: { sessions: 0 } });
	expect((await api.send('GET', '/v1/owner/users')).body).toMatchObject({ data: [] });
});

it('refusals do not reveal the amount of another account’s session', async () => {
	const body = { amount: unpaid.amount + 1, phone: unpaid.phone, session_id: unpaid.id };
	for (const caller of [fixture().owner, fixture().other, fixture().admin]) {
		await caller.refused('404 session_not_found', 'POST', '/v1/payments/mobile-money', { body });
	}
});

it('another key of the same account may do what the first one may', async () => {
	const { accountId, api: first } = await fixture().newKey();
	const { api: second } = await fixture().newKey({ accountId });
	const { id } = await first.createSession();
	expect(await second.endSession(id)).toMatchObject({ status_reason: 'client_cancelled' });
});

it('an owner or admin who creates a session has it as its creator', async () => {
	for (const caller of [fixture().owner, fixture().admin]) {
		const own = await caller.createSession({ phone: numberEnding('003') });
		expect(await caller.pay(own)).toMatchObject({ session_id: own.id });
		expect(await caller.endSession(own.id)).toMatchObject({ status_reason: 'client_cancelled' });
	}
});

it('a key is as strong as the weaker of its own role and its account’s', async () => {
	for (const roles of [
		{ role: 'admin', accountRole: 'app' },
		{ role: 'app', accountRole: 'admin' },
		{ role: 'owner', accountRole: 'admin' }
	] as const) {
		const { api } = await fixture().newKey(roles);
		await api.refused('404 session_not_found', 'GET', `/v1/sessions/${session.id}`);
		await api.refused('404 payment_not_found', 'GET', `/v1/payments/${payment.id}/status`);
	}
});
