import { ApiProblem, type ApiClient } from '../api-client.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { readCode } from '#lib/checkout/purchase/code.ts';
import type { PaymentBody } from '#lib/server/contract/schemas.ts';
import { LONGEST_WINDOW_MS, type RateLimits } from '#lib/server/rate-limits/rate-limits.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { CODE_MS } from './codes.ts';
import { pageRowOf } from './find-sessions.ts';
import type { PurchasesContext } from './purchases.ts';
import * as store from './store.ts';

type Opened = { kind: 'found'; token: string } | { kind: 'unknown' };

interface Limited {
	kind: 'limited';
	retryAfterSeconds: number;
}

/** The total limit is used up, and the phone number is missing or does not match. */
interface Crowded {
	kind: 'crowded';
}

interface Visitor {
	/** IP address, or /64 of IPv6. After a power cut all guests of a venue can share it. */
	network: string;
	/** Id of a captive session that has not expired. */
	captiveSession: string | null;
}

/**
 * Security: a limit per captive session, otherwise per network, and a total limit count each try, so codes cannot be guessed. Anybody can
 * use up the total limit. A code then opens only with the number of the order, so buyers are not locked out.
 * @param typed `phone` is the number as typed; '' if none was requested
 */
export async function resume(
	context: PurchasesContext,
	api: ApiClient,
	typed: { code: string; phone: string },
	from: Visitor
): Promise<Opened | Limited | Crowded> {
	const { clock, codes, region } = context;
	const code = readCode(typed.code);
	// A text that cannot be a code does not count.
	if (code === null) return { kind: 'unknown' };
	const limited = await takeTry(context, from);
	if (limited) return limited;
	const isCrowded = await takeOfAll(context, from);
	const number = isCrowded ? parseMobile(typed.phone, region) : null;
	if (isCrowded && number === null) return { kind: 'crowded' };
	const row = await codes.find(code, clock.now() - CODE_MS);
	if (number !== null && !(row && (await hasOrderedFrom(api, row, number, region))))
		return { kind: 'crowded' };
	return openedPage(row && codes.tokenOf(row));
}

const openedPage = (token: string | null): Opened =>
	token === null ? { kind: 'unknown' } : { kind: 'found', token };

const takeTry = (
	{ rateLimits, maxCodes }: PurchasesContext,
	{ network, captiveSession }: Visitor
): Promise<Limited | null> =>
	limitedUntil(rateLimits.take(`code:${captiveSession ?? network}`, maxCodes.visitor));

/**
 * Counts a try toward the total limit. Returns true if it is used up, or if the captive sessions of this network have used
 * half of it: one device can have many.
 */
async function takeOfAll(
	{ rateLimits, maxCodes }: PurchasesContext,
	{ network, captiveSession }: Visitor
): Promise<boolean> {
	const half = Math.ceil(maxCodes.total / 2);
	if (captiveSession !== null && !(await rateLimits.take(`codes:${network}`, half)).admitted) return true;
	return !(await rateLimits.take('code', maxCodes.total)).admitted;
}

async function limitedUntil(decision: ReturnType<RateLimits['take']>): Promise<Limited | null> {
	const { admitted, resetMs } = await decision;
	return admitted ? null : { kind: 'limited', retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)) };
}

/** Also money that goes back: the page says so. */
const PAID: ReadonlySet<PaymentBody['status']> = new Set([
	'success',
	'refund_pending',
	'refunded',
	'refund_failed'
]);
/** Tries with one number, and with one transaction ID, in LONGEST_WINDOW_MS. */
const MAX_OF_PAYMENT = { network: 5, total: 10 };
/** No operator's IDs have other characters; PostgreSQL and the API refuse some. */
const TRANSACTION = /^[!-~]{1,64}$/;

/**
 * Opens the purchase of a payment, for a buyer whose page closed before it showed the code.
 *
 * Security: some operators count their transactions, so an ID is guessed from one near it, and people know each other's
 * numbers. So a try counts like a code, and also toward limits of its number and of its ID: per network, so that one
 * network does not use up the tries of a buyer in another, and in total, so that at most 960 tries a day have one number.
 * An attacker who knows the time of a payment to ten seconds has to try thousands of IDs, and most passes are over by
 * then. The number is always asked for, so the total limit of all codes refuses nobody. An unknown pair, a payment that
 * is not paid and one of another program have the same answer.
 * @param typed as the buyer typed them
 */
export async function resumeByPayment(
	context: PurchasesContext,
	api: ApiClient,
	typed: { transaction: string; phone: string },
	from: Visitor
): Promise<Opened | Limited> {
	const { codes, rateLimits, region } = context;
	const number = parseMobile(typed.phone, region);
	const transaction = typed.transaction.replaceAll(/[\s\p{Cf}]/gu, '').replace(/[.,:;]+$/, '');
	// A number or transaction that no payment can have is not counted as a try.
	if (number === null || !TRANSACTION.test(transaction)) return { kind: 'unknown' };
	const limited = await takeTry(context, from);
	if (limited) return limited;
	await takeOfAll(context, from);
	for (const half of [number, transaction.toUpperCase()]) {
		const subject = `payment:${sha256(half)}`;
		const ofNetwork = `${subject}:${from.network}`;
		const limitedHalf =
			(await limitedUntil(rateLimits.take(ofNetwork, MAX_OF_PAYMENT.network, LONGEST_WINDOW_MS))) ??
			(await limitedUntil(rateLimits.take(subject, MAX_OF_PAYMENT.total, LONGEST_WINDOW_MS)));
		if (limitedHalf) return limitedHalf;
	}
	const tokens = new Set<string>();
	for (const id of await sessionsPaidBy(api, transaction, number)) {
		const row = await pageRowOf(context, id);
		const token = row && codes.tokenOf(row);
		if (token !== null) tokens.add(token);
	}
	// An operator may use an ID twice.
	const [token = null, ...others] = tokens;
	return openedPage(others.length > 0 ? null : token);
}

/** Reads the sessions of paid payments from a number (E.164) with the ID as it is typed, or in capitals. */
async function sessionsPaidBy(api: ApiClient, transaction: string, number: string): Promise<Set<number>> {
	const spellings = [...new Set([transaction, transaction.toUpperCase()])];
	const lists = await Promise.all(
		spellings.map(async (provider_reference) => {
			try {
				return (await api.listPayments({ provider_reference })).data;
			} catch (problem) {
				// An API with only the fields of the wire format has no list of payments.
				if (problem instanceof ApiProblem) return [];
				throw problem;
			}
		})
	);
	const paid = lists
		.flat()
		// An older API ignores the filter.
		.filter(({ provider_reference: id }) => id !== null && spellings.includes(id))
		.filter(({ status, phone }) => PAID.has(status) && phone === number);
	return new Set(paid.map(({ session_id }) => session_id));
}

/** Whether a payment of the purchase was requested from this number (E.164). */
async function hasOrderedFrom(
	api: ApiClient,
	row: store.PurchaseRow,
	number: string,
	region: string
): Promise<boolean> {
	if (parseMobile(row.phone, region) === number) return true;
	for (const id of store.paymentIds(row).reverse()) {
		if ((await api.getPayment(id)).phone === number) return true;
	}
	return false;
}
