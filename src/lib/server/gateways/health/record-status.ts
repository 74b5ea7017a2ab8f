import { HOUR_MS } from '#lib/domain/time.ts';
import type { RegisteredGateway } from '../gateway-record.ts';
import type { GatewaysContext } from '../register.ts';
import * as store from '../store.ts';

/** An update for a gateway. Omitted fields keep their values. */
export interface StatusUpdate {
	/** It has just responded on an authenticated channel. */
	seen?: true;
	/** It has answered a RADIUS request of ours: a sign of life, but its own requests may still be refused. */
	answered?: true;
	clockOffsetMs?: number;
	trouble?: string | null;
	online?: number | null;
	/** The name of a device that is no MAC address, as the gateway wrote it; '' if it wrote none. */
	unreadDevice?: string;
}

const MAX_TROUBLE_LENGTH = 500;
/** Limits writes for gateways that call often. */
const SEEN_INTERVAL_MS = 10_000;
const UNREAD_INTERVAL_MS = HOUR_MS;
const MAX_NOTATION_LENGTH = 64;

/**
 * Saves an update. The router sells after the first response, and again after the end of an outage.
 * @param gateway as read before it responded: a response to old settings or secrets does not count, nor
 * does one of a gateway whose secrets cannot be read
 */
export async function recordStatus(
	{ database, clock }: GatewaysContext,
	{ id, updatedAt, unreadable }: Pick<RegisteredGateway, 'id' | 'updatedAt' | 'unreadable'>,
	{ seen: called, answered, clockOffsetMs, trouble, online, unreadDevice }: StatusUpdate
): Promise<void> {
	if (unreadable.length > 0) return;
	const { db } = database;
	const row = await store.findGateway(db, 'id', id);
	if (row?.updated_at !== updatedAt) return;
	// An answer to our request counts only after the gateway has called by itself: its calls may still be refused.
	const seen = called ?? (answered && row.seen_at !== null);
	const now = clock.now();
	const isFresh = row.seen_at !== null && Math.abs(now - row.seen_at) < SEEN_INTERVAL_MS;
	const update = {
		...(seen && !(isFresh && row.unresponsive_since === null) && { seen_at: now, unresponsive_since: null }),
		...(clockOffsetMs === undefined ? {} : { clock_offset_ms: Math.round(clockOffsetMs) }),
		...(trouble === undefined ? {} : { trouble: trouble?.slice(0, MAX_TROUBLE_LENGTH) ?? null }),
		...(online === undefined ? {} : { online_count: online }),
		...(unreadDevice !== undefined && unreadNotation(row, unreadDevice, now))
	};
	if (seen && row.seen_at === null) {
		await database.transact(async (trx) => {
			await store.updateStatus(trx, row, update);
			await store.updateResponded(trx, row.router_id);
		});
	} else await store.updateStatus(db, row, update);
	if (seen && row.unresponsive_since !== null) await store.markRouterOnline(db, row.router_id);
}

/** Keeps how the gateway writes addresses, without the address of a person's device. Writes the same one once an hour. */
function unreadNotation(row: store.GatewayRow, text: string, now: number) {
	const notation = text
		.replace(/\b[0-9a-f]+\b|\d/gi, (digits) => 'x'.repeat(digits.length))
		.slice(0, MAX_NOTATION_LENGTH);
	const isKnown = row.unread_device === notation && now - (row.unread_device_at ?? 0) < UNREAD_INTERVAL_MS;
	return isKnown ? {} : { unread_device: notation, unread_device_at: now };
}
