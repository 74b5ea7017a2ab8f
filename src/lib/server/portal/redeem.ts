import type { RequestEvent } from '@sveltejs/kit';
import { toMinor } from '#lib/domain/money.ts';
import { MINUTE_MS } from '#lib/domain/time.ts';
import { momentText } from '#lib/format/words.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { type CaptiveSession, findEarlierPurchase } from '../gateways/captive-sessions.ts';
import { findGatewayById } from '../gateways/gateways.ts';
import { networkOf } from '../http/client-address.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { lockName } from '#lib/server/db/locks.ts';
import { insertRow, retryUniqueViolation } from '#lib/server/db/queries.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken, sha256 } from '#lib/server/platform/secrets.ts';
import { TURN_SECONDS } from '#lib/server/rate-limits.ts';
import { Refused, attempt } from '../platform/errors.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { formatLimited, orUnavailable } from './pages.ts';
import {
	CODE_ATTEMPTS,
	findLastActive,
	findRow,
	findRowById,
	findRowOfSession,
	makeCode,
	openToken,
	type PurchaseRow,
	type Purchases,
	readAddedParts,
	readPart,
	updateRow
} from './purchases.ts';
import { type Visitor, readTyped, takeTry } from './resume.ts';

/**
 * Vouchers on the pages of buyers: a code redeems once, and leads the device that has redeemed it to its purchase.
 *
 * Guarantee: the API redeems a code once for this portal, and returns the same session to a second call. The purchase that
 * is stored first has it. So a crash between the two loses nothing: the next try stores the purchase.
 *
 * Security: a code has 60 bits, so no limit on all tries together is needed, which anybody could use up. Only wrong codes
 * count toward the limit of a device, otherwise of a network: the right code always works.
 */

/** What a voucher opened: the token of the purchase, or why it opened none. null: no voucher has this code. */
type Answer = { token: string } | { status: 404 | 409 | 429; why: string } | null;

/**
 * Redeems the code of a voucher for a visitor. Only a posted form does: the address with a code, which cameras and
 * messengers open, starts no time.
 * @param token of the form
 * @param at the captive session of the visitor, and the router of the page; null without one. `adds` is the purchase whose
 *   page asked: its running pass gets the time. Without it, the running pass of the device does: two passes at once would
 *   use up two vouchers for the time of one.
 */
export async function redeemTyped(
	event: RequestEvent,
	code: string,
	token: string,
	at: {
		captiveSession: CaptiveSession | null;
		routerId: number | null;
		adds?: AddsTo | null;
		isKiosk?: boolean;
	}
): Promise<Answer> {
	const { captiveSessions, gateways, purchases } = event.locals.app;
	const { captiveSession, adds = null, isKiosk = false } = at;
	const gateway = captiveSession && (await findGatewayById(gateways, captiveSession.gatewayId));
	const redeemer: Redeemer = {
		...{ token, adds, isKiosk, network: networkOf(event.locals.clientAddress()) },
		captiveSession: captiveSession?.device ?? null,
		routerId: adds?.routerId ?? gateway?.routerId ?? at.routerId,
		earlier:
			captiveSession && gateway && (await findEarlierPurchase(captiveSessions, gateway, captiveSession.entry))
	};
	const api = apiClient(event);
	const redeem = async () => {
		redeemer.adds ??= await findRunning(purchases, api, redeemer);
		return redeemCode(purchases, api, code, redeemer);
	};
	const redeemed = await orUnavailable(attempt(redeem), m.purchase_unreachable());
	const answer = redeemed instanceof Refused ? explain(event, redeemed) : { token: redeemed };
	if (answer || (await takeTry(purchases, redeemer))) return answer;
	event.setHeaders({ 'retry-after': String(TURN_SECONDS) });
	return { status: 429, why: formatLimited(TURN_SECONDS) };
}

/** Returns null for a voucher that is unknown, also to an API without vouchers. */
function explain(event: RequestEvent, { reason, extensions }: Refused<string>): Answer {
	const refuse = (why: string): Answer => ({ status: 409, why });
	switch (reason) {
		case 'voucher_redeemed': {
			const { clock, config } = event.locals.app;
			const at = new Date(String(extensions.redeemed_at));
			return refuse(m.redeem_used({ time: momentText(at, new Date(clock.now()), config.reportTimezone) }));
		}
		case 'voucher_void':
			return refuse(m.redeem_void());
		case 'voucher_of_other_router':
			return refuse(m.redeem_elsewhere({ router: apart(String(extensions.router_name)) }));
		// Its speed or data limit is not that of the pass.
		case 'offer_not_available':
			return refuse(m.redeem_unlike());
		case 'router_unavailable':
			return refuse(m.redeem_offline());
		default:
			return null;
	}
}

/** Finds the code of a voucher in a typed or pasted text, also in the address of its QR code. */
export const readVoucherCode = (typed: string): string | null => readTyped(typed, false).voucher;

interface Redeemer extends Visitor {
	/** Of the form: it becomes the token of the purchase, so a form that is sent twice is one purchase. */
	token: string;
	/** Where the device is; null if nothing says. */
	routerId: number | null;
	/** SHA-256 of the token of the last purchase of the same device. */
	earlier: string | null;
	adds: AddsTo | null;
	/** The next visitor has the same device. */
	isKiosk: boolean;
}

/** So long a code opens its purchase for the network that redeemed it: the answer may have been lost. */
const LOST_ANSWER_MS = 5 * MINUTE_MS;

/**
 * A purchase to whose running pass a voucher adds time. `sessionId`: the active session that ends last; null if it is over.
 * `isFound`: nobody asked for it, so a voucher with other limits begins a pass of its own.
 */
interface AddsTo {
	token: string;
	routerId: number;
	sessionId: number | null;
	isFound?: true;
}

/** Finds the purchase of a device whose time runs where it is. */
async function findRunning(
	purchases: Purchases,
	api: ApiClient,
	{ earlier, routerId }: Redeemer
): Promise<AddsTo | null> {
	const { db } = purchases.database;
	const row = earlier === null ? null : await findRow(db, earlier);
	const token = row && openToken(purchases, row);
	const part = row && row.router_id === routerId ? await readPart(db, api, row) : null;
	if (!row || !part || token === null) return null;
	const active = findLastActive([part, ...(await readAddedParts(db, api, row))]);
	return active && { token, routerId: row.router_id, sessionId: active.id, isFound: true };
}

/**
 * Redeems a voucher, or leads the device that has redeemed it to its purchase. Returns the token of the purchase.
 * @throws Refused as the API; `voucher_redeemed` if another device has redeemed it
 */
async function redeemCode(
	purchases: Purchases,
	api: ApiClient,
	code: string,
	{ routerId, token, earlier, captiveSession, network, adds, isKiosk }: Redeemer
): Promise<string> {
	const session = await requestTime(api, code, routerId, adds);
	const source = captiveSession === null ? `network ${network}` : `captive session ${captiveSession}`;
	const mark = isKiosk ? null : purchases.hashOrder(`voucher ${session.id} ${source}`);
	const { row, isNew } = await findOrStore(purchases, session, token, mark);
	const { extends_purchase_id: addedTo } = row;
	// The page of the purchase shows its added time, and its password: the code of a voucher does not open it.
	const page = addedTo === null ? row : await findRowById(purchases.database.db, addedTo);
	const isSameDevice =
		(isNew && addedTo === null) ||
		[sha256(token), earlier, adds && sha256(adds.token)].includes(page?.token_hash ?? '') ||
		(mark !== null &&
			row.asked_from?.includes(mark) === true &&
			(captiveSession !== null ||
				(addedTo === null && purchases.clock.now() < row.created_at + LOST_ANSWER_MS)));
	const own = isSameDevice && page ? openToken(purchases, page) : null;
	if (own !== null) return own;
	throw new Refused('voucher_redeemed', undefined, { extensions: { redeemed_at: session.created_at } });
}

/** If the pass has just ended, the time begins a new one. */
async function requestTime(
	api: ApiClient,
	code: string,
	routerId: number | null,
	adds: AddsTo | null
): Promise<SessionBody> {
	const order = { code, ...(routerId !== null && { router_id: routerId }) };
	if (!adds?.sessionId) return api.redeemVoucher(order);
	try {
		return await api.redeemVoucher({ ...order, extends_session_id: adds.sessionId });
	} catch (problem) {
		const { reason } = problem instanceof Refused ? problem : {};
		const isApart = reason === 'session_not_extendable' || (reason === 'offer_not_available' && adds.isFound);
		if (!isApart) throw problem;
		return api.redeemVoucher(order);
	}
}

/** Stores the purchase of a redeemed voucher, or returns the one that another request stored. */
function findOrStore(
	purchases: Purchases,
	session: SessionBody,
	givenToken: string,
	mark: string | null
): Promise<{ row: PurchaseRow; isNew: boolean }> {
	const { clock, database } = purchases;
	return retryUniqueViolation(database, CODE_ATTEMPTS, (attempt) =>
		database.transact(async (trx) => {
			// Of two devices that redeem one voucher at the same moment, one stores its purchase.
			await lockName(trx, `voucher session ${session.id}`);
			const known = await findRowOfSession(trx, session.id);
			if (known) return { row: known, isNew: false };
			const adds = await findAddedTo(trx, session);
			// The form has bought something before: two purchases have two tokens.
			const isFree = PURCHASE_TOKEN_PATTERN.test(givenToken) && attempt === 0;
			const token = isFree ? givenToken : purchaseToken();
			const now = clock.now();
			const { router_id, duration, offer, payment_method, phone, amount, currency, payment_id } = session;
			const row = await insertRow(trx, 'purchases', {
				...{ token_hash: sha256(token), router_id, duration, offer_id: offer?.id ?? null },
				...{ payment_method, phone, amount_minor: toMinor(amount, currency) ?? 0, currency },
				...{ session_id: session.id, replaces_session_id: null },
				...(adds && { extends_purchase_id: adds.id, extends_session_id: session.extends_session_id }),
				payment_ids: JSON.stringify(payment_id === null ? [] : [payment_id]),
				asked_from: JSON.stringify(mark === null ? [] : [mark]),
				...{ created_at: now, updated_at: now },
				...(adds ? {} : makeCode(purchases, token, attempt).columns)
			});
			// Its code stays valid.
			if (adds) await updateRow(trx, adds.id, { updated_at: now });
			return { row, isNew: true };
		})
	);
}

/** Finds the purchase whose pass got the time of a session; null for a pass of its own. */
async function findAddedTo(
	trx: Tx,
	{ extends_session_id: id }: SessionBody
): Promise<Pick<PurchaseRow, 'id'> | null> {
	if (id == null) return null;
	const row = await findRowOfSession(trx, id);
	return row && { id: row.extends_purchase_id ?? row.id };
}
