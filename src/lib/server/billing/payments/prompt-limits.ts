import { DAY_MS } from '#lib/domain/time/time.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { hmac } from '#lib/server/platform/secrets.ts';
import type { BillingContext } from '../context.ts';
import * as store from './store.ts';

/**
 * Limits payment prompts, because anybody can type the number of a stranger. API accounts have rate limits, and buyers
 * of the pages have none, so their networks are limited by what they leave unpaid. A source is a network of the pages,
 * or the API with all its accounts.
 */

const WINDOW_MS = 15 * 60 * 1000;
/** A payer types the PIN in this time. */
const ANSWER_MS = 2 * 60 * 1000;
/** A number is blocked for every source after this many times the limit of one. */
const ALL_SOURCES_FACTOR = 4;
/** Unpaid prompts that each payment of the last day allows. */
const UNPAID_PER_PAID = 3;
/** Part of the limit that a network keeps although it leaves most prompts unpaid. */
const UNTRUSTED_SHARE = 1 / 10;
/** No network's limit refuses a number that has paid in this time. */
const KNOWN_PAYER_MS = 30 * DAY_MS;

export interface PromptSource {
	/** Keyed hash of the buyer's network; null for the API. */
	network: string | null;
	/** For numbers that have not paid before. */
	refusal: AppError | null;
}

export interface PromptsContext extends BillingContext {
	/** The last order that waits, by network. */
	queues: Map<string, Promise<unknown>>;
}

/**
 * Runs an order with its source. The orders of one network run one after another, because on PostgreSQL they would
 * conflict and retry. Counts outside their transactions, because counts of many rows would make all payments conflict.
 * @param address IP address of a buyer of the pages; null for the API
 */
export async function withSource<T>(
	context: PromptsContext,
	address: string | null,
	order: (source: PromptSource) => Promise<T>
): Promise<T> {
	const { queues, secrets } = context;
	if (address === null) return order({ network: null, refusal: null });
	const network = hmac(secrets.derive('prompt-network', 32), address);
	const next = async () => order({ network, refusal: await networkRefusal(context, network) });
	const own = (queues.get(network) ?? Promise.resolve()).then(next, next);
	queues.set(network, own);
	try {
		return await own;
	} finally {
		if (queues.get(network) === own) queues.delete(network);
	}
}

/** @throws AppError with the time of the next try */
export async function checkPrompts(
	{ clock, config }: BillingContext,
	trx: Tx,
	phone: string,
	{ network, refusal }: PromptSource
): Promise<void> {
	const now = clock.now();
	const most = config.maxPayerPrompts;
	const prompts = await store.promptsTo(trx, phone, now - WINDOW_MS);
	const own = prompts.filter((prompt) => prompt.network === network);
	const isFlooded =
		prompts.length >= most * ALL_SOURCES_FACTOR &&
		!(await store.hasPaid(trx, { phone, network }, now - DAY_MS));
	if (own.length >= most || isFlooded) {
		// The try succeeds once this prompt and the older ones have left the window.
		const blocking = isFlooded ? prompts.at(-most * ALL_SOURCES_FACTOR) : own.at(-most);
		const retryAfter = secondsUntil((blocking?.created_at ?? now) + WINDOW_MS, now);
		const detail = `This number got ${prompts.length} payment requests in the last 15 minutes. ${tryAgain(retryAfter)}`;
		throw new AppError('payer_prompt_limit', detail, { extensions: { retry_after: retryAfter } });
	}
	if (refusal && !(await store.hasPaid(trx, { phone }, now - KNOWN_PAYER_MS))) throw refusal;
}

/**
 * A network may leave `maxUnpaidPrompts.network` unpaid, so that all guests of a venue can buy at once. If most of its
 * prompts stay unpaid, it may leave a tenth, and more for each payment.
 */
async function networkRefusal(context: BillingContext, network: string): Promise<AppError | null> {
	const { config, clock, database } = context;
	const { db } = database;
	const now = clock.now();
	const most = config.maxUnpaidPrompts.network;
	const { paid, unanswered, unpaid } = await store.promptsFrom(db, network, {
		day: now - DAY_MS,
		window: now - WINDOW_MS,
		answered: now - ANSWER_MS
	});
	const earned = Math.ceil(most * UNTRUSTED_SHARE) + UNPAID_PER_PAID * paid;
	const isTrusted = unanswered <= earned;
	const limit = isTrusted ? Math.max(most, earned) : earned;
	if (paid === 0 && (await isCrowded(context, now))) return unpaidLimit('total', ANSWER_MS / 1000);
	if (unpaid < limit) return null;
	// In a rush, buyers are about to answer.
	if (isTrusted) return unpaidLimit('network', 60);
	const blocking = await store.unpaidPromptFrom(db, network, now - WINDOW_MS, unpaid - limit);
	return unpaidLimit('network', secondsUntil((blocking?.created_at ?? now) + WINDOW_MS, now));
}

/** True if so many prompts are unpaid in total that only networks with payments get more. */
async function isCrowded({ config, database: { db } }: BillingContext, now: number): Promise<boolean> {
	const since = now - WINDOW_MS;
	const isReached = async (most: number) => (await store.countUnpaidPrompts(db, since, most)) >= most;
	if (!(await isReached(config.maxUnpaidPrompts.total))) return false;
	return isReached(UNPAID_PER_PAID * (await store.countPaid(db, since)));
}

function unpaidLimit(policy: 'network' | 'total', retryAfter: number): AppError {
	const from = policy === 'network' ? 'from this network' : 'of this installation';
	return new AppError(
		'unpaid_prompt_limit',
		`Too many payment requests ${from} are unpaid. ${tryAgain(retryAfter)}`,
		{ extensions: { retry_after: retryAfter, 'violated-policies': [policy] } }
	);
}

const tryAgain = (seconds: number) => `Try again in ${Math.ceil(seconds / 60)} min.`;

const secondsUntil = (time: number, now: number) => Math.max(1, Math.ceil((time - now) / 1000));
