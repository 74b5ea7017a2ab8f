import type { ApiClient } from '../api-client.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { readCode } from '#lib/checkout/purchase/code.ts';
import type { PurchasesContext } from './purchases.ts';
import * as store from './store.ts';

/** Lifetime of a code after the last change: the longest pass and a month. The page address never expires. */
export const CODE_MS = 60 * 24 * 60 * 60 * 1000;

type Resumed =
	| { kind: 'found'; token: string }
	/** `crowded`: the total limit is used up, and the phone number is missing or does not match. */
	| { kind: 'unknown' | 'crowded' }
	| { kind: 'limited'; retryAfterSeconds: number };

/**
 * Security: a limit per IP network and a total limit count each try, so codes cannot be guessed. Anybody can
 * use up the total limit. A code then opens only with the number of the order, so buyers are not locked out.
 * @param typed `phone` is the number as typed; '' if none was requested
 */
export async function resume(
	context: PurchasesContext,
	api: ApiClient,
	typed: { code: string; phone: string },
	network: string
): Promise<Resumed> {
	const { clock, codes, rateLimits, maxCodes, region } = context;
	const code = readCode(typed.code);
	// A text that cannot be a code does not count.
	if (code === null) return { kind: 'unknown' };
	const own = await rateLimits.take(`code:${network}`, maxCodes.network);
	if (!own.admitted) {
		return { kind: 'limited', retryAfterSeconds: Math.max(1, Math.ceil(own.resetMs / 1000)) };
	}
	const isCrowded = !(await rateLimits.take('code', maxCodes.total)).admitted;
	const number = isCrowded ? parseMobile(typed.phone, region) : null;
	if (isCrowded && number === null) return { kind: 'crowded' };
	const row = await codes.find(code, clock.now() - CODE_MS);
	if (number !== null && !(row && (await hasOrderedFrom(api, row, number, region))))
		return { kind: 'crowded' };
	const token = row && codes.tokenOf(row);
	return token === null ? { kind: 'unknown' } : { kind: 'found', token };
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
