import { readAmountWith } from '#lib/domain/money.ts';
import type { Client } from '../client.ts';
import type { Paid } from '../operator.ts';
import { jsonObject, textMember } from '../response.ts';
import { MPESA_CURRENCY, type MpesaValues } from './settings.ts';
import { accountReference, pullBody } from './requests.ts';

/** Daraja keeps its list of settled payments for 48 hours. */
const KEPT_MS = 48 * 60 * 60 * 1000;
/** Tolerance for clock differences. */
const MARGIN_MS = 10 * 60 * 1000;
const MAX_PAGES = 20;

/**
 * Searches the settled payments ("Pull Transactions", for registered shortcodes) for the account reference, which payments
 * at a till lack: there it finds only the receipt of a callback. Returns null if it is not there with an amount, or the
 * list cannot be read.
 * @param receipt of a callback; null for any
 */
export async function findTransaction(
	daraja: Client,
	values: MpesaValues,
	{ reference, submittedAt }: { reference: string; submittedAt: number | null },
	receipt: string | null,
	now: number
): Promise<(Paid & { raw: string }) | null> {
	const wanted = accountReference(reference);
	const from = Math.max(now - KEPT_MS, (submittedAt ?? 0) - MARGIN_MS);
	let offset = 0;
	for (let page = 0; page < MAX_PAGES; page += 1) {
		const outcome = await daraja.post(
			'/pulltransactions/v1/query',
			pullBody(values, from, now + MARGIN_MS, offset)
		);
		if (outcome.kind !== 'response' || outcome.status !== 200) return null;
		const list = jsonObject(outcome.text)?.['Response'];
		const rows: unknown[] = Array.isArray(list) ? list.flat() : [];
		for (const row of rows) {
			const providerReference = textMember(row, 'transactionId');
			const amountMinor = readAmountWith('.', textMember(row, 'amount') ?? '', MPESA_CURRENCY);
			const account = textMember(row, 'billreference')?.toUpperCase() ?? '';
			const isWanted = account === wanted || (account === '' && receipt !== null);
			if (!isWanted || !providerReference) continue;
			if (typeof amountMinor === 'string' || amountMinor <= 0) continue;
			// Somebody can also pay by hand with this reference.
			if (receipt !== null && providerReference !== receipt) continue;
			return { providerReference, amountMinor, currency: MPESA_CURRENCY, raw: JSON.stringify(row) };
		}
		if (rows.length === 0) return null;
		offset += rows.length;
	}
	return null;
}
