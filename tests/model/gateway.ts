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
import { type GatewayTransport, formatRouterOsRate, isUnlimited } from '#lib/server/gateways/gateway.ts';
import { findAdapter, findGatewayById, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { NO_SETTINGS, createGateway } from '#lib/server/gateways/settings.ts';
import { type PassRow, isPassOpen, openPassword, readSpeed } from '#lib/server/passes.ts';
import { loginUser } from '#lib/domain/wifi.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { purchaseToken, sha256 } from '#lib/server/platform/secrets.ts';
import { startRouterOs } from '../simulators/gateway/routeros.ts';
import { random } from '../support/random.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** A gateway carries out a request at the latest this long after it was sent. */
const LATE_MS = 45 * SECOND;
/** A call without an answer for this long has failed. */
const TIMEOUT_MS = 10 * SECOND;
/** The end that a gateway knows may be this much later than the paid one, and is in whole seconds. */
const SLACK_MS = 31 * SECOND;

const LOSSES = ['lost answer', 'late request'] as const;
/** What happens to the next request that changes the gateway. */
const FAULTS = [...LOSSES, 'doubled request', 'crash'] as const;
type Fault = (typeof FAULTS)[number];
const EVENTS = [
	...(['payment', 'end', 'extend', 'move', 'redirect', 'restart', 'removed gateway', 'clock step'] as const),
	...FAULTS
];
type Event = (typeof EVENTS)[number];

/** A run of a gateway's job, in one process. */
interface Run {
	isDead: boolean;
	done: Promise<void>;
	/** Resolves when an answer to it is on its way. */
	waits: PromiseWithResolvers<void>;
}

/** A call whose answer is on its way. */
interface Held {
	run: Run;
	sentAt: number;
	answer(): void;
	giveUp(): void;
}

/** A random order of 4 to 12 events: later ones may mend what earlier ones broke. */
export function orderOf(seed: number): Event[] {
	const below = random(seed);
	const left = [...EVENTS];
	const order = EVENTS.map(() => left.splice(below(left.length), 1)[0] ?? 'payment');
	return order.slice(0, 4 + below(9));
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
	let held: Held[] = [];
	/** The events have stopped, and answers come at once. */
	let isCalm = false;
	/** By gateway: the queue starts no second run beside one. */
	const runs = new Map<number, Run>();
	/** When each user's end was sent: `limit-uptime` counts from then, as nobody uses it up. */
	const toldAt = new Map<string, number>();
	/** Without a reading of the whole gateway only the comparison itself mends what was lost. */
	let isRead = true;
	let below = random(0);
	let gateway = await addGateway();

	async function addGateway(): Promise<RegisteredGateway> {
		const input = {
			...{ ...NO_SETTINGS, name: 'model', routerId, kind: 'mikrotik', loginHosts: ['10.5.50.1'] },
			...{ control: 'rest', api: box.url, apiUser: 'airtill', apiKey: 'fake', apiInsecure: true }
		};
		return createGateway(app.gateways, input, (trx, added) => scheduleComparison(app, trx, added.id));
	}

	/**
	 * Half of the answers take a while, and events happen meanwhile.
	 * @param run of the job that calls; null for a removal, which waits for its answers: half of them are lost
	 */
	const createTransport = (run: Run | null): GatewayTransport => ({
		now: () => at,
		async send({ method, url, headers, body }) {
			const { pathname, searchParams: query } = new URL(url);
			const values = body === undefined ? {} : (JSON.parse(body) as Record<string, unknown>);
			const sentAt = at;
			const failure = { kind: 'failure', cause: 'timeout', sent: true } as const;
			const act = () => {
				const path = decodeURIComponent(pathname);
				const { status, body: said } = box.answer({ method, path, query, headers, body: values });
				const { name } = (said ?? {}) as { name?: string };
				if (name !== undefined && 'limit-uptime' in values) toldAt.set(name, sentAt);
				return { kind: 'response', status, headers: {}, text: JSON.stringify(said ?? null) } as const;
			};
			const actLate = () => void late.push({ at: sentAt, act });
			if (method === 'GET') return act();
			const isUnlucky = run === null && below(2) === 0;
			switch (faults.shift() ?? (isUnlucky ? LOSSES[below(2)] : undefined)) {
				case 'lost answer':
					act();
					return failure;
				case 'late request':
					actLate();
					return failure;
				case 'doubled request':
					act();
					return act();
				case 'crash':
					for (const one of runs.values()) one.isDead = true;
					for (const { giveUp } of held.splice(0)) giveUp();
					if (below(2) === 0) actLate();
					else act();
					return failure;
				case undefined: {
					if (isCalm || run === null || below(2) === 0) return act();
					const answer = below(2) === 0 ? act() : null;
					return new Promise((resolve) => {
						held.push({
							...{ run, sentAt },
							answer: () => resolve(answer ?? act()),
							giveUp() {
								if (answer === null) actLate();
								resolve(failure);
							}
						});
						run.waits.resolve();
					});
				}
			}
		}
	});
	const access = { ...app.access, transport: createTransport(null) };

	/** Runs the jobs of gateways, as the queue does, until they end or wait for an answer. @returns whether any was due */
	async function work(): Promise<boolean> {
		const due = await db
			.deleteFrom('jobs')
			.where('kind', '=', GATEWAY_JOB)
			.where('run_at', '<=', at)
			.where('subject_id', 'not in', [0, ...runs.keys()])
			.returning('subject_id')
			.execute();
		for (const { subject_id: id } of due) {
			const run: Run = { isDead: false, done: Promise.resolve(), waits: Promise.withResolvers() };
			runs.set(id, run);
			run.done = compare(id, run).finally(() => runs.delete(id));
		}
		await settle();
		return due.length > 0;
	}

	/** A process that died stores nothing. */
	async function compare(id: number, run: Run): Promise<void> {
		const alive = <Args extends unknown[], T>(change: (...args: Args) => Promise<T>) => {
			return async (...args: Args) => {
				if (run.isDead) throw new Error('The process is dead');
				return change(...args);
			};
		};
		const database = {
			db,
			transact: alive(app.database.transact.bind(app.database)) as App['database']['transact'],
			unfenced: app.database
		};
		const context = { ...access, transport: createTransport(run), database };
		const next = await compareGateway(context, id, new AbortController().signal).catch((error: unknown) => {
			if (!run.isDead) throw error;
			return at;
		});
		const again = run.isDead ? at : next;
		if (again === null) return;
		const waits = db
			.selectFrom('jobs')
			.select('id')
			.where('kind', '=', GATEWAY_JOB)
			.where('subject_id', '=', id);
		if (!(await waits.executeTakeFirst())) await app.jobs.schedule(db, GATEWAY_JOB, id, again);
	}

	const settle = () =>
		Promise.all([...runs.values()].map((run) => Promise.race([run.done, run.waits.promise])));

	/** The answers on their way come, or those that time out never do. */
	async function endCalls(how: 'answer' | 'giveUp', calls: readonly Held[] = held): Promise<void> {
		const ended = new Set(calls);
		held = held.filter((one) => !ended.has(one));
		for (const run of runs.values())
			if (!held.some((one) => one.run === run)) run.waits = Promise.withResolvers();
		for (const call of ended) call[how]();
		await settle();
	}

	function carryOut(until: number): void {
		const now = late.filter((one) => one.at <= until);
		late = late.filter((one) => one.at > until);
		for (const { act } of now) act();
	}

	async function step(ms: number): Promise<void> {
		await endCalls(
			'giveUp',
			held.filter(({ sentAt }) => at + ms - sentAt >= TIMEOUT_MS)
		);
		carryOut(at + ms - LATE_MS);
		at += ms;
	}

	/** A buyer with a purchase of an hour, and what is paid later. */
	async function newBuyer() {
		const isFast = below(2) === 0;
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
					...(isFast && { speed_down_kbps: 5_000, speed_up_kbps: 1_000 }),
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
				if (isRead) box.reset();
				return;
			case 'removed gateway':
				if (!isRead || below(3) === 0) {
					const refuse = () => Promise.reject(new Error('Refused'));
					await removeGateway(access, gateway, { isForced: true, apply: refuse }).catch(() => {});
					return;
				}
				await removeGateway(access, gateway, { isForced: true });
				// To enter it again takes longer than a call of the removed one.
				while (runs.has(gateway.id)) await endCalls(below(2) === 0 ? 'answer' : 'giveUp');
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
		isCalm = true;
		while (runs.size > 0) await endCalls('answer');
		carryOut(Infinity);
		await step(MINUTE + SECOND);
		const read = await findGatewayById(app.gateways, gateway.id);
		if (read && isRead) {
			const status = await findAdapter(read.kind).controller?.status(read, access.transport);
			if (status?.reading) await compareReading(access, read, status.reading, at);
		}
		for (let turns = 0; turns < 20 && (await work()); turns += 1);
	}

	/** The users in the gateway's own books. */
	function listUsers(): string[] {
		const path = '/rest/ip/hotspot/user';
		const authorization = `Basic ${Buffer.from('airtill:fake').toString('base64')}`;
		const query = new URLSearchParams();
		const listed = box.answer({ method: 'GET', path, query, headers: { authorization }, body: {} });
		return (listed.body as { name: string }[]).map(({ name }) => name);
	}

	/** Compares the gateway's own books with what was paid. */
	async function findWrong(pass: PassRow | null): Promise<string[]> {
		const [name = 'nobody', ...others] = listUsers();
		const wanted = pass ? loginUser(pass.id) : 'nobody';
		if (name !== wanted || others.length > 0)
			return [`it lets in ${[name, ...others].join()}, not ${wanted}`];
		if (!pass) return [];
		const wrong: string[] = [];
		if (pass.activating_until !== null) wrong.push('the time does not run');
		const [, seconds] = /^(\d+)s$/.exec(box.user(name)?.['limit-uptime'] ?? '') ?? [];
		const until = (toldAt.get(name) ?? 0) + Number(seconds) * SECOND;
		const endsAt = pass.ends_at ?? 0;
		if (!(until >= endsAt && until <= endsAt + SLACK_MS)) wrong.push(`its end is ${until}, not ${endsAt}`);
		const speed = readSpeed(pass);
		const rate = isUnlimited(speed) ? null : formatRouterOsRate(speed);
		if (box.rateOf(name) !== rate) wrong.push(`its speed is ${box.rateOf(name)}, not ${rate}`);
		const said = box.signIn(name, openPassword(app.access, pass), '02:00:00:00:00:01');
		if (said !== 'online') wrong.push(said);
		return wrong;
	}

	return {
		app,
		/** Plays the events, and returns what is wrong two rounds later. */
		async play(events: readonly Event[], seed: number): Promise<string[]> {
			below = random(seed);
			isRead = below(2) === 0;
			isCalm = false;
			const buyer = await newBuyer();
			for (const event of events) {
				await happen(event, buyer);
				if (below(3) > 0) await work();
				if (below(3) === 0) await endCalls('answer');
				if (below(3) === 0) await step(below(20) * SECOND);
			}
			await round();
			await round();
			const wrong = await findWrong(await buyer.findOpenPass());
			// The next buyer finds an empty gateway.
			await step(3 * 60 * MINUTE);
			await round();
			await round();
			return wrong.length > 0 ? wrong : findWrong(null);
		},
		async stop() {
			await box.stop();
			await app.stop();
		}
	};
}
