/** One gateway with its own books, and orders of events against it, in this process and with a clock that tests move. */
import { createAccount } from '#lib/server/accounts/accounts.ts';
import { movePurchase } from '#lib/server/access/access.ts';
import { removeGateway } from '#lib/server/access/gateway-changes.ts';
import { GATEWAY_JOB, scheduleComparison } from '#lib/server/access/admissions.ts';
import { compareGateway, compareReading } from '#lib/server/access/compare.ts';
import { type App, createApp } from '#lib/server/app.ts';
import { activateSession, endOrCancelSession, lockSession } from '#lib/server/billing/sessions.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import { bindPurchase, enterPortal } from '#lib/server/gateways/captive-sessions.ts';
import type { GatewayTransport } from '#lib/server/gateways/gateway.ts';
import { findAdapter, findGatewayById, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { NO_SETTINGS, createGateway } from '#lib/server/gateways/settings.ts';
import { isPassOpen } from '#lib/server/passes.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { purchaseToken, sha256 } from '#lib/server/platform/secrets.ts';
import { startRouterOs } from '../simulators/gateway/routeros.ts';
import { random } from '../support/random.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** A gateway carries out a request at the latest this long after it was sent. */
const LATE_MS = 45 * SECOND;

const EVENTS = [
	...(['payment', 'end', 'extend', 'move', 'redirect', 'restart', 'removed gateway'] as const),
	...(['lost answer', 'late answer', 'doubled answer', 'crash', 'clock step'] as const)
];
type Event = (typeof EVENTS)[number];
type Fault = 'lost answer' | 'late answer' | 'doubled answer' | 'crash';

/** A random order of the 12 events. */
export function orderOf(seed: number): Event[] {
	const below = random(seed);
	const left = [...EVENTS];
	return EVENTS.map(() => left.splice(below(left.length), 1)[0] ?? 'payment');
}

export type Model = Awaited<ReturnType<typeof openModel>>;

export async function openModel(databaseUrl: string, folder: string) {
	let at = Date.parse('2027-01-01T00:00:00Z');
	const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder, AIRTILL_LOG_LEVEL: 'silent' };
	const config = loadConfig(env);
	const app = await createApp(config, { clock: { now: () => at }, log: createLog('silent') });
	const { db } = app.database;
	const box = await startRouterOs({ user: 'airtill', password: 'fake' });
	const account = await createAccount(app, { email: 'm@tests.invalid', role: 'owner', plan: 'default' });
	if (!account) throw new Error('No account was made');
	const { id: accountId } = account;
	const written = { created_at: at, updated_at: at };
	const place = {
		security: 'wpa',
		lat: 0,
		lon: 0,
		price_minor: 500,
		currency: 'UGX',
		status: 'online'
	} as const;
	const { id: routerId } = await db
		.insertInto('routers')
		.values({
			...{ ...place, ...written, owner_account_id: accountId, name: 'Model', ssid: 'Model' },
			...{
				payment_methods: '["mtn_momo"]',
				min_duration: '15m',
				max_duration: '30d',
				access_kind: 'portal_login'
			}
		} as never)
		.returning('id')
		.executeTakeFirstOrThrow();

	/** Faults that the next requests meet. */
	let faults: Fault[] = [];
	let late: { at: number; act(): void }[] = [];
	/** Of the process that runs now. */
	let isDead = false;
	let below = random(0);
	let gateway = await addGateway();

	async function addGateway(): Promise<RegisteredGateway> {
		const input = {
			...{ ...NO_SETTINGS, name: 'model', routerId, kind: 'mikrotik', loginHosts: ['10.5.50.1'] },
			...{ control: 'rest', api: box.url, apiUser: 'airtill', apiKey: 'fake', apiInsecure: true }
		};
		return createGateway(app.gateways, input, (trx, added) => scheduleComparison(app, trx, added.id));
	}

	const transport: GatewayTransport = {
		now: () => at,
		async send({ method, url, headers, body }) {
			const { pathname, searchParams: query } = new URL(url);
			const act = () =>
				box.answer({
					...{ method, path: decodeURIComponent(pathname), query, headers },
					body: body === undefined ? {} : (JSON.parse(body) as Record<string, unknown>)
				});
			const fault = method === 'GET' ? undefined : faults.shift();
			if (fault === 'crash') isDead = true;
			if (fault === 'late answer' || (fault === 'crash' && below(2) === 0)) late.push({ at, act });
			else {
				const { status, body: said } = act();
				if (fault === 'doubled answer') late.push({ at, act });
				if (fault === undefined || fault === 'doubled answer') {
					return { kind: 'response', status, headers: {}, text: JSON.stringify(said ?? null) };
				}
			}
			return { kind: 'failure', cause: 'timeout', sent: true };
		}
	};
	const access = { ...app.access, transport };

	/** Runs the job of a gateway, as the queue does; a process that died stores nothing. */
	async function work(): Promise<boolean> {
		const due = await db
			.deleteFrom('jobs')
			.where('kind', '=', GATEWAY_JOB)
			.where('run_at', '<=', at)
			.returning('subject_id')
			.execute();
		for (const { subject_id: id } of due) {
			isDead = false;
			const alive = <Args extends unknown[], T>(run: (...args: Args) => Promise<T>) => {
				return async (...args: Args) => {
					if (isDead) throw new Error('The process is dead');
					return run(...args);
				};
			};
			const database = {
				db,
				transact: alive(app.database.transact.bind(app.database)) as App['database']['transact'],
				unfenced: app.database
			};
			const next = await compareGateway({ ...access, database }, id, new AbortController().signal).catch(
				(error: unknown) => {
					if (!isDead) throw error;
					return at;
				}
			);
			const again = isDead ? at : next;
			if (again === null) continue;
			const waits = db
				.selectFrom('jobs')
				.select('id')
				.where('kind', '=', GATEWAY_JOB)
				.where('subject_id', '=', id);
			if (!(await waits.executeTakeFirst())) await app.jobs.schedule(db, GATEWAY_JOB, id, again);
		}
		return due.length > 0;
	}

	function carryOut(until: number): void {
		const now = late.filter((one) => one.at <= until);
		late = late.filter((one) => one.at > until);
		for (const { act } of now) act();
	}

	function step(ms: number): void {
		carryOut(at + ms - LATE_MS);
		at += ms;
	}

	/** A buyer with a purchase of an hour, and what is paid later. */
	async function newBuyer() {
		const token = purchaseToken();
		let passId: number | null = null;
		let last: number | null = null;
		let devices = 0;
		async function pay() {
			const base = { payment_method: 'mtn_momo', phone: '+256770000001', amount_minor: 500 };
			const times = { created_at: at, updated_at: at };
			const money = { ...base, ...times, currency: 'UGX' };
			const extended = await findOpenPass();
			const { id } = await db
				.insertInto('sessions')
				.values({
					...{ ...money, account_id: accountId, router_id: routerId, status: 'pending_payment' },
					...{
						duration: '1h',
						duration_seconds: 3_600,
						ssid: 'Model',
						payment_due_at: at + MINUTE,
						access_kind: 'portal_login'
					},
					...(extended && { pass_id: extended.id, extends_session_id: last })
				} as never)
				.returning('id')
				.executeTakeFirstOrThrow();
			if (last === null) {
				await db
					.insertInto('purchases')
					.values({
						...money,
						duration: '1h',
						token_hash: sha256(token),
						router_id: routerId,
						session_id: id
					} as never)
					.execute();
			}
			last = id;
			const payment = await db
				.insertInto('payments')
				.values({
					...{ ...money, session_id: id, account_id: accountId, operator: 'mtn', reference: `model-${id}` },
					...{ status: 'success', submit_state: 'accepted', commission_basis_points: 0, expires_at: at }
				} as never)
				.returning('id')
				.executeTakeFirstOrThrow();
			await app.database.transact(async (trx) => {
				const held = await lockSession(trx, id);
				if (held) await activateSession(app, trx, held, payment.id);
			});
			const session = await db
				.selectFrom('sessions')
				.select('pass_id')
				.where('id', '=', id)
				.executeTakeFirst();
			passId = session?.pass_id ?? null;
		}
		async function findOpenPass() {
			if (passId === null) return null;
			const pass = await db.selectFrom('passes').selectAll().where('id', '=', passId).executeTakeFirst();
			return pass && isPassOpen(pass, at) ? pass : null;
		}
		async function enter(mac: string) {
			const fields = new URLSearchParams({
				...{ mac, ip: '10.5.50.9', 'link-login-only': 'http://10.5.50.1/login', 'link-orig': '', error: '' }
			});
			const request = { method: 'POST', address: 'http://portal.example/splash/key', fields } as const;
			const entered = await enterPortal(app.captiveSessions, gateway, request, () => Promise.resolve(true));
			if ('id' in entered) await bindPurchase(app.captiveSessions, entered.id, token);
		}
		return {
			pay,
			findOpenPass,
			async end() {
				if (last === null) return;
				await endOrCancelSession(app, { accountId, role: 'app' } as never, last).catch(() => {});
			},
			redirect: () => enter(`02:00:00:00:00:0${devices}`),
			async move() {
				devices += 1;
				await enter(`02:00:00:00:00:0${devices}`);
				await movePurchase(access, sha256(token));
			}
		};
	}

	async function happen(event: Event, buyer: Awaited<ReturnType<typeof newBuyer>>): Promise<void> {
		switch (event) {
			case 'payment':
			case 'extend':
				return buyer.pay();
			case 'end':
				return buyer.end();
			case 'move':
				return buyer.move();
			case 'redirect':
				return buyer.redirect();
			case 'restart':
				return box.reset();
			case 'removed gateway':
				if (below(3) === 0) {
					const refuse = () => Promise.reject(new Error('Refused'));
					await removeGateway(access, gateway, { isForced: true, apply: refuse }).catch(() => {});
					return;
				}
				await removeGateway(access, gateway, { isForced: true });
				gateway = await addGateway();
				return;
			case 'clock step':
				return step(below(4) === 0 ? -below(30) * SECOND : below(600) * SECOND);
			default:
				faults.push(event);
		}
	}

	/** The events have stopped: what is late is carried out, and a minute passes. */
	async function round(): Promise<void> {
		faults = [];
		carryOut(Infinity);
		step(MINUTE + SECOND);
		const read = await findGatewayById(app.gateways, gateway.id);
		const status = read && (await findAdapter(read.kind).controller?.status(read, transport));
		if (read && status?.reading) await compareReading(access, read, status.reading, at);
		for (let turns = 0; turns < 20 && (await work()); turns += 1);
	}

	return {
		app,
		/** Plays the events, and returns what is wrong two rounds later. */
		async play(events: readonly Event[], seed: number): Promise<string[]> {
			below = random(seed);
			const buyer = await newBuyer();
			for (const event of events) {
				await happen(event, buyer);
				if (below(3) > 0) await work();
				if (below(3) === 0) step(below(20) * SECOND);
			}
			await round();
			await round();
			const pass = await buyer.findOpenPass();
			const path = '/rest/ip/hotspot/user';
			const authorization = `Basic ${Buffer.from('airtill:fake').toString('base64')}`;
			const query = new URLSearchParams();
			const listed = box.answer({ method: 'GET', path, query, headers: { authorization }, body: {} });
			const users = (listed.body as { name: string }[]).map(({ name }) => name);
			const wrong: string[] = [];
			const wanted = pass ? [`s${pass.id}`] : [];
			if (users.join() !== wanted.join())
				wrong.push(`it lets in ${users.join() || 'nobody'}, not ${wanted.join() || 'nobody'}`);
			if (pass?.activating_until != null) wrong.push('the time does not run');
			if (pass) {
				const row = await db
					.selectFrom('admissions')
					.selectAll()
					.where('pass_id', '=', pass.id)
					.orderBy('id', 'desc')
					.executeTakeFirst();
				const until = row?.allowed_until ?? 0;
				const endsAt = pass.ends_at ?? 0;
				if (until < endsAt || until > endsAt + 30 * SECOND) wrong.push(`it knows ${until}, not ${endsAt}`);
			}
			// The next buyer finds an empty gateway.
			step(3 * 60 * MINUTE);
			await round();
			await round();
			return wrong;
		},
		async stop() {
			await box.stop();
			await app.stop();
		}
	};
}
