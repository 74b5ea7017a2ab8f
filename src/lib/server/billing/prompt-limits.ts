import { lockName } from '../db/locks.ts';
import { type ExpressionBuilder, sql } from 'kysely';
import { networksOfIp } from '#lib/domain/address.ts';
import { DAY_MS } from '#lib/domain/time.ts';
import type { Base } from '../base.ts';
import type { Reads, Tx } from '../db/database.ts';
import { countRows, exists, first } from '../db/queries.ts';
import type { Row, Schema } from '../db/schema.ts';
import { FIRST_PROMPTS, type RedirectedDevice } from '../http/client-address.ts';
import { Refused } from '../platform/errors.ts';
import { hmac } from '../platform/secrets.ts';

/**
 * Limits payment prompts, because anybody can type the number of a stranger. A source is the network of a buyer of the
 * pages (an IPv4 address, or the /64, /56 and /48 of IPv6), or an account of the API with all its keys.
 *
 * - Per number, each source has its own limit; only four times as many block the number for everybody, so that no source
 *   alone can keep a number from buying elsewhere.
 * - Per source, a few prompts may be unpaid, and more for each payment of the last day.
 * - In total, sources that paid nothing in the last day share a limit. Those of the pages, those of devices that a gateway
 *   redirected and those of the API have one each, so that none can stop the others.
 *
 * A number that paid in the last 30 days is refused by none but its own limit. A device names itself, and anybody can
 * invent a name. So a device gets no limit of its own, but its first prompts pass above the limit of its network, to a
 * multiple of it: one guest with many prompts does not stop the others, and many invented devices do not stop other
 * networks.
 */

const WINDOW_MS = 15 * 60 * 1000;
/** A number is blocked for every source after this many times the limit of one. */
const ALL_SOURCES_FACTOR = 4;
/** Unpaid prompts that each payment of the last day allows. */
const UNPAID_PER_PAID = 3;
/** No source's limit refuses a number that has paid in this time. */
const KNOWN_PAYER_MS = 30 * DAY_MS;
/** Limits of a /56 and a /48, as multiples of that of a /64: other customers can be in them. */
const LARGER_SHARES = [2, 4];
/** The same multiple for first prompts of a redirect, and for those of a MAC address that left none unpaid here. */
const FIRST_SHARES = { redirect: 2, device: 3 };

type PaymentRow = Row<'payments'>;

/** Who asks for a prompt: a buyer of the pages, or an account of the API. */
export type PromptBuyer =
	| {
			/** IP address in its one spelling; null if it is not known. */
			address: string | null;
			device: RedirectedDevice | null;
	  }
	| { accountId: number };

export interface PromptSource {
	/** Columns of the payment. Keyed hashes; null for the API. */
	columns: Pick<PaymentRow, 'network' | 'network_56' | 'network_48' | 'device'>;
	/** What distinguishes the payments of the source. */
	own: PromptScope;
	/** For numbers that have not paid before. */
	refusal: Refused | null;
}

/** The last order that waits, by source. */
export type PromptQueues = Map<string, Promise<unknown>>;

/** Also of a job, whose reads are fenced. */
type Counting = Pick<Base, 'clock' | 'config'> & { database: { db: Reads } };

type PromptsContext = Base & { promptQueues: PromptQueues };

/**
 * Runs an order with its source. The orders of one source run one after another in this process, because each counts those
 * before it. They count outside of their transactions: several processes may together exceed the limit of a source by the
 * orders that run at once.
 */
export async function withSource<T>(
	context: PromptsContext,
	buyer: PromptBuyer,
	order: (source: PromptSource) => Promise<T>
): Promise<T> {
	const { promptQueues: queues } = context;
	const source = computeSource(context, buyer);
	const { columns, queue, limits } = source;
	const own = limits[0].scope;
	const next = async () => order({ columns, own, refusal: await findSourceRefusal(context, source) });
	const last = (queues.get(queue) ?? Promise.resolve()).then(next, next);
	queues.set(queue, last);
	try {
		return await last;
	} finally {
		if (queues.get(queue) === last) queues.delete(queue);
	}
}

interface SourceLimit {
	scope: PromptScope;
	/** Multiple of the limit of a source. */
	share: number;
}

interface Source {
	columns: PromptSource['columns'];
	/** From the smallest network. */
	limits: [SourceLimit, ...SourceLimit[]];
	pool: PromptPool;
	/** One of the first prompts of a redirect. */
	isFirst: boolean;
	queue: string;
}

const API_COLUMNS = { network: null, network_56: null, network_48: null, device: null };

function computeSource({ secrets }: Base, buyer: PromptBuyer): Source {
	if ('accountId' in buyer) {
		const { accountId } = buyer;
		const scope = { network: null, account_id: accountId };
		const queue = `account ${accountId}`;
		return { columns: API_COLUMNS, limits: [{ scope, share: 1 }], pool: 'api', isFirst: false, queue };
	}
	const { address, device } = buyer;
	const key = secrets.derive('prompt-network', 32);
	const networks = (address === null ? ['unknown'] : networksOfIp(address)).map((one) => hmac(key, one));
	const [network = '', network_56 = null, network_48 = null] = networks;
	const larger: PromptScope[] = [
		...(network_56 === null ? [] : [{ network_56 }]),
		...(network_48 === null ? [] : [{ network_48 }])
	];
	return {
		// In each network of its own, so that nobody elsewhere uses the name up.
		columns: { network, network_56, network_48, device: device && hmac(key, `${network} ${device.mac}`) },
		limits: [
			{ scope: { network }, share: 1 },
			...larger.map((scope, at) => ({ scope, share: LARGER_SHARES[at] ?? 1 }))
		],
		pool: device ? 'devices' : 'pages',
		isFirst: device?.isFirst === true,
		queue: networks.at(-1) ?? network
	};
}

/** Holds the number, so that each of its orders counts those before it. @throws Refused with the time of the next try */
export async function checkPrompts(
	{ clock, config }: Base,
	trx: Tx,
	phone: string,
	{ own, refusal }: PromptSource
): Promise<void> {
	await lockName(trx, `prompts ${phone}`);
	const now = clock.now();
	const most = config.maxPayerPrompts;
	const since = now - WINDOW_MS;
	const all = await selectPrompts(trx, { phone }, since)
		.select(['created_at', 'account_id', 'network'])
		.orderBy('created_at')
		.execute();
	const ofSource = all.filter(
		({ account_id, network }) =>
			network === own.network && (own.account_id === undefined || account_id === own.account_id)
	);
	const isFlooded =
		all.length >= most * ALL_SOURCES_FACTOR && !(await hasPaid(trx, { phone, ...own }, now - DAY_MS));
	if (ofSource.length >= most || isFlooded) {
		// The try succeeds once this prompt and the older ones have left the window.
		const blocking = isFlooded ? all.at(-most * ALL_SOURCES_FACTOR) : ofSource.at(-most);
		const retryAfter = computeSecondsUntil((blocking?.created_at ?? now) + WINDOW_MS, now);
		const detail = `This number got ${all.length} payment requests in the last 15 minutes. ${formatTryAgain(retryAfter)}`;
		throw new Refused('payer_prompt_limit', detail, { extensions: { retry_after: retryAfter } });
	}
	if (refusal && !(await hasPaid(trx, { phone }, now - KNOWN_PAYER_MS))) throw refusal;
}

/**
 * A source may leave `maxUnpaidPrompts.source` unpaid, and three more for each payment of the last day. Names the time at
 * which the same order passes if nobody pays meanwhile.
 */
async function findSourceRefusal(context: Counting, source: Source): Promise<Refused | null> {
	const { config, clock, database } = context;
	const { db } = database;
	const now = clock.now();
	const since = now - WINDOW_MS;
	const firstShare = await findFirstShare(context, source, since);
	let blockedAt: number | null = null;
	for (const { scope, share } of source.limits) {
		const start = config.maxUnpaidPrompts.source * share;
		const unpaid = await countUnpaidPrompts(db, scope, since);
		if (unpaid < start * firstShare) continue;
		const paid = await countRows(selectPrompts(db, scope, now - DAY_MS).where('paid_at', 'is not', null));
		const most = (start + UNPAID_PER_PAID * paid) * firstShare;
		if (unpaid < most) continue;
		const older = selectPrompts(db, scope, since).where(isUnpaidByPayer).orderBy('created_at');
		const blocking = await first(older.select('created_at').offset(unpaid - most));
		blockedAt = Math.max(blockedAt ?? 0, blocking?.created_at ?? now);
	}
	if (blockedAt !== null) {
		return unpaidLimit(
			source.pool === 'api' ? 'account' : 'network',
			computeSecondsUntil(blockedAt + WINDOW_MS, now)
		);
	}
	const crowdedAt = await findCrowd(context, source.pool, now);
	if (crowdedAt === null || (await hasPaid(db, source.limits[0].scope, now - DAY_MS))) return null;
	return unpaidLimit('total', computeSecondsUntil(crowdedAt + WINDOW_MS, now));
}

async function findFirstShare(
	{ database: { db } }: Counting,
	{ columns: { device }, isFirst }: Source,
	since: number
): Promise<number> {
	if (device === null || !isFirst) return 1;
	const ofDevice = await countUnpaidPrompts(db, { device }, since);
	return ofDevice < FIRST_PROMPTS ? FIRST_SHARES.device : FIRST_SHARES.redirect;
}

/**
 * Returns when the prompt was sent that must leave the window before sources without payments get more; null if the
 * total is not reached. It is `maxUnpaidPrompts.total`, or three for each payment of the window if that is more.
 */
async function findCrowd({ config, database: { db } }: Counting, pool: PromptPool, now: number) {
	const since = now - WINDOW_MS;
	const { total } = config.maxUnpaidPrompts;
	const newest = (count: number) => findNewestUnpaid(db, pool, since, count - 1);
	const blocking = await newest(total);
	if (blocking === null) return null;
	const earned = UNPAID_PER_PAID * (await countPaid(db, since));
	return earned > total ? newest(earned) : blocking;
}

/** Returns who gets no further prompts without a payment of the last day, for the administrator. */
export async function findCrowdedPools(context: Counting): Promise<PromptPool[]> {
	const crowds = await Promise.all(PROMPT_POOLS.map((pool) => findCrowd(context, pool, context.clock.now())));
	return PROMPT_POOLS.filter((_, at) => crowds[at] !== null);
}

const FROM = {
	network: 'from this network',
	account: 'of this account',
	total: 'of this installation'
};

function unpaidLimit(policy: keyof typeof FROM, retryAfter: number): Refused {
	return new Refused(
		'unpaid_prompt_limit',
		`Too many payment requests ${FROM[policy]} are unpaid. ${formatTryAgain(retryAfter)}`,
		{ extensions: { retry_after: retryAfter, 'violated-policies': [policy] } }
	);
}

const formatTryAgain = (seconds: number) => `Try again in ${Math.ceil(seconds / 60)} min.`;

const computeSecondsUntil = (time: number, now: number) => Math.max(1, Math.ceil((time - now) / 1000));

/** Columns by which payments are counted as prompts. Without `network`, those of the pages and of the API. */
type PromptScope = Partial<
	Pick<PaymentRow, 'phone' | 'account_id' | 'network' | 'network_56' | 'network_48' | 'device'>
>;

const selectPrompts = (queries: Reads, scope: PromptScope, since: number) =>
	queries
		.selectFrom('payments')
		.where(({ and }) => and(scope))
		.where('created_at', '>', since);

const hasPaid = (queries: Reads, scope: PromptScope, since: number): Promise<boolean> =>
	exists(selectPrompts(queries, scope, since).select('id').where('paid_at', 'is not', null));

/** True for a prompt that its payer could have paid. The operator's outages are not the buyers' doing. */
const isUnpaidByPayer = ({ and, eb, or }: ExpressionBuilder<Schema, 'payments'>) =>
	and([
		eb('paid_at', 'is', null),
		or([eb('failure_code', 'is', null), eb('failure_code', '<>', 'provider_unavailable')])
	]);

const countUnpaidPrompts = (queries: Reads, scope: PromptScope, since: number): Promise<number> =>
	countRows(selectPrompts(queries, scope, since).where(isUnpaidByPayer));

/** Sources that share a total: buyers of the pages, devices that a gateway redirected, and accounts of the API. */
const PROMPT_POOLS = ['pages', 'devices', 'api'] as const;
type PromptPool = (typeof PROMPT_POOLS)[number];

/** Returns the time of the unpaid prompt after so many newer ones; null if there are fewer. */
async function findNewestUnpaid(queries: Reads, pool: PromptPool, since: number, newer: number) {
	const unpaid = selectPrompts(queries, {}, since).where(isUnpaidByPayer).select('created_at');
	// Each as a partial index has it.
	const ofPool = {
		pages: unpaid.where('network', 'is not', null).where('device', 'is', null),
		devices: unpaid.where('device', 'is not', null),
		api: unpaid.where('network', 'is', null)
	}[pool];
	return (await first(ofPool.orderBy('created_at', 'desc').offset(newer)))?.created_at ?? null;
}

/** Counts payments, of the API too, that bought time. */
const countPaid = (queries: Reads, since: number): Promise<number> =>
	// A literal, so that SQLite uses the partial index payments_paid.
	countRows(
		queries
			.selectFrom('payments')
			.where(sql<boolean>`applied = 1`)
			.where('paid_at', '>', since)
	);
