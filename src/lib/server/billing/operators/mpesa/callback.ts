import { readAmountWith } from '#lib/domain/money.ts';
import { jsonObject, member, textMember } from '../response.ts';
import type { CallbackHint, MoneyTaken, RawCallback } from '../operator.ts';
import { NO_HINT } from '../outcomes.ts';
import { isBeingProcessed } from './outcomes.ts';
import { MPESA_CURRENCY } from './settings.ts';
import { AMOUNT_MARK, STATUS_MARK, TIMEOUT_MARK } from './requests.ts';

/**
 * Parses Daraja's callbacks: `Body.stkCallback` for a push, `Result` for a reversal or a query about one or about a payment
 * (marked in the address). Only the address authenticates the sender.
 */
export function parseCallback(raw: RawCallback): CallbackHint {
	const body = jsonObject(raw.body);
	const push = member(member(body, 'Body'), 'stkCallback');
	if (Object.keys(push).length > 0) return pushResult(push);
	const result = member(body, 'Result');
	// The queue timed out; the transaction may still happen.
	if (raw.path.includes(TIMEOUT_MARK)) return { ...NO_HINT, claimed: 'pending' };
	if (Object.keys(result).length === 0) return NO_HINT;
	// Names the request by the id of its response, which is not the one of its callback.
	if (raw.path.includes(AMOUNT_MARK)) return { ...statusResult(result), operatorReference: null };
	const hint = raw.path.includes(STATUS_MARK) ? statusResult(result) : reversalResult(result);
	return hint.claimed === 'pending' || namesSomething(hint) ? hint : NO_HINT;
}

/** A result without any name is no claim that could be kept, so it would be asked for again at once, and again. */
const namesSomething = ({ operatorReference, providerReference, amountMinor }: CallbackHint): boolean =>
	(operatorReference ?? providerReference ?? amountMinor) !== null;

function named(list: unknown, name: 'Name' | 'Key'): ReadonlyMap<string, string> {
	const entries = Array.isArray(list) ? list : [list];
	return new Map(
		entries.flatMap((entry) => {
			const key = textMember(entry, name);
			const value = textMember(entry, 'Value');
			return key === null || value === null ? [] : [[key.replaceAll(' ', ''), value] as const];
		})
	);
}

function money(text = ''): MoneyTaken {
	const amountMinor = readAmountWith('.', text, MPESA_CURRENCY);
	const isRead = typeof amountMinor === 'number' && amountMinor > 0;
	return isRead ? { amountMinor, currency: MPESA_CURRENCY } : { amountMinor: null, currency: null };
}

function claimed(code: string | null, text: string | null): CallbackHint['claimed'] {
	if (code === null) return 'unknown';
	if (code === '0') return 'succeeded';
	return isBeingProcessed(code, text) ? 'pending' : 'failed';
}

function pushResult(push: Record<string, unknown>): CallbackHint {
	const items = named(member(push, 'CallbackMetadata')['Item'], 'Name');
	return {
		...NO_HINT,
		claimed: claimed(textMember(push, 'ResultCode'), textMember(push, 'ResultDesc')),
		operatorReference: textMember(push, 'CheckoutRequestID'),
		providerReference: items.get('MpesaReceiptNumber') ?? null,
		...money(items.get('Amount'))
	};
}

const parameters = (result: Record<string, unknown>): ReadonlyMap<string, string> =>
	named(member(result, 'ResultParameters')['ResultParameter'], 'Key');

/** The payment was already reversed, by a request whose answer was lost or by a person. */
const ALREADY_REVERSED = 'R000001';

function reversalResult(result: Record<string, unknown>): CallbackHint {
	const code = textMember(result, 'ResultCode');
	return {
		...NO_HINT,
		claimed: code === ALREADY_REVERSED ? 'succeeded' : claimed(code, textMember(result, 'ResultDesc')),
		operatorReference: textMember(result, 'OriginatorConversationID'),
		providerReference: textMember(result, 'TransactionID'),
		...money(parameters(result).get('Amount'))
	};
}

/** ResultCode is that of the query; the result of the reversal or payment is a parameter. */
function statusResult(result: Record<string, unknown>): CallbackHint {
	if (textMember(result, 'ResultCode') !== '0') return { ...NO_HINT, claimed: 'pending' };
	const items = parameters(result);
	const status = items.get('TransactionStatus') ?? '';
	const isFailure = /^(failed|declined|cancelled|expired)$/i.test(status);
	return {
		...NO_HINT,
		claimed: /^completed$/i.test(status) ? 'succeeded' : isFailure ? 'failed' : 'pending',
		operatorReference: items.get('OriginatorConversationID') ?? null,
		providerReference: items.get('ReceiptNo') ?? null,
		...money(items.get('Amount'))
	};
}
