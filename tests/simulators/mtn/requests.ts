import type { SimulatorRequest } from '../frame/protocol.ts';
import { objectIn } from '../json.ts';
import { isUuidV4 } from './access.ts';
import type { Market } from './markets.ts';

/** Validates payment and refund requests by MTN's documentation. */

interface Order {
	reference: string;
	/** As it came. */
	amount: string;
	currency: string;
	externalId: string | null;
	payerMessage: string | null;
	payeeNote: string | null;
}

export interface PaymentOrder extends Order {
	payer: { partyIdType: string; partyId: string };
	callbackUrl: string | null;
}

export interface RefundOrder extends Order {
	referenceIdToRefund: string;
}

const MAX_NOTE_LENGTH = 160;
const MAX_EXTERNAL_ID_LENGTH = 64;

type Read<Shape> = Shape | { problem: string };

export function readPaymentOrder(request: SimulatorRequest, market: Market): Read<PaymentOrder> {
	const body = objectIn(request.body);
	const order = readOrder(request, body, market);
	if ('problem' in order) return order;
	const payer = body?.['payer'] as Record<string, unknown> | null | undefined;
	const type = payer?.['partyIdType'];
	const id = payer?.['partyId'];
	if (typeof type !== 'string' || typeof id !== 'string' || !isParty(type, id)) {
		return { problem: 'payer must be a party; a MSISDN is the country code and the number, digits only.' };
	}
	const callbackUrl = request.headers['x-callback-url'];
	if (callbackUrl !== undefined && !isCallbackUrl(String(callbackUrl))) {
		return { problem: 'X-Callback-Url must be an http or https URL.' };
	}
	return {
		...order,
		payer: { partyIdType: type, partyId: id },
		callbackUrl: callbackUrl === undefined ? null : String(callbackUrl)
	};
}

export function readRefundOrder(request: SimulatorRequest, market: Market): Read<RefundOrder> {
	const body = objectIn(request.body);
	const order = readOrder(request, body, market);
	if ('problem' in order) return order;
	const refunded = body?.['referenceIdToRefund'];
	// The sandbox plays its scenarios for "1" to "13".
	const isScenario = market.country === null && typeof refunded === 'string' && /^\d{1,2}$/.test(refunded);
	if (typeof refunded !== 'string' || !(isScenario || isUuidV4(refunded))) {
		return { problem: 'referenceIdToRefund must be the reference of a payment.' };
	}
	return { ...order, referenceIdToRefund: refunded };
}

function readOrder(
	{ headers }: SimulatorRequest,
	body: Record<string, unknown> | null,
	market: Market
): Read<Order> {
	const reference = String(headers['x-reference-id'] ?? '');
	if (!isUuidV4(reference)) return { problem: 'X-Reference-Id must be a UUID of version 4.' };
	if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
		return { problem: 'Content-Type must be application/json.' };
	}
	if (body === null) return { problem: 'The body must be a JSON object.' };
	const { amount, currency, externalId = null, payerMessage = null, payeeNote = null } = body;
	if (typeof amount !== 'string' || !isAmount(amount, market.decimals)) {
		return { problem: 'amount must be a positive amount, as a string.' };
	}
	if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
		return { problem: 'currency must be an ISO 4217 code.' };
	}
	if (externalId !== null && !isText(externalId, MAX_EXTERNAL_ID_LENGTH)) {
		return { problem: 'externalId must be a string without special characters.' };
	}
	if (payerMessage !== null && !isText(payerMessage, MAX_NOTE_LENGTH)) return note('payerMessage');
	if (payeeNote !== null && !isText(payeeNote, MAX_NOTE_LENGTH)) return note('payeeNote');
	return { reference: reference.toLowerCase(), amount, currency, externalId, payerMessage, payeeNote };
}

const note = (name: string) => ({
	problem: `${name} must be a string of at most ${MAX_NOTE_LENGTH} characters without special ones.`
});

/** Quotes, brackets of markup and control characters are refused. */
const isText = (value: unknown, longest: number): value is string =>
	typeof value === 'string' &&
	value.length <= longest &&
	![...value].some((character) => `'"\`<>&\\`.includes(character) || character < ' ');

const isAmount = (text: string, decimals: number): boolean =>
	/^\d{1,12}(\.\d{1,4})?$/.test(text) &&
	Number(text) > 0 &&
	(text.split('.')[1] ?? '').replace(/0+$/, '').length <= decimals;

const isMsisdn = (text: string): boolean => /^\d{5,15}$/.test(text);

export function isParty(type: string, id: string): boolean {
	switch (type) {
		case 'MSISDN':
			return isMsisdn(id);
		case 'EMAIL':
			return /^[^@\s]+@[^@\s]+$/.test(id);
		case 'PARTY_CODE':
			return isUuidV4(id);
		default:
			return false;
	}
}

const isCallbackUrl = (text: string): boolean => /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
