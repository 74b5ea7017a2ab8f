import type { Script } from '../script.ts';
import type { SimulatorAnswer } from '../frame/protocol.ts';
import { failure, ok } from './answers.ts';
import { isParty } from './requests.ts';

/** The sandbox's scenarios, by number (the operator's page on testing). Every other number pays. */
const PREFIX = '467331234';

const PAYMENTS: Readonly<Record<string, string>> = {
	'50': 'INTERNAL_PROCESSING_ERROR',
	'51': 'APPROVAL_REJECTED',
	'52': 'EXPIRED',
	'53': 'pending',
	'55': 'PAYER_NOT_FOUND',
	'56': 'PAYEE_NOT_ALLOWED_TO_RECEIVE',
	'57': 'NOT_ALLOWED',
	'58': 'NOT_ALLOWED_TARGET_ENVIRONMENT',
	'59': 'INVALID_CALLBACK_URL_HOST',
	'60': 'INVALID_CURRENCY',
	'61': 'INTERNAL_PROCESSING_ERROR',
	'62': 'SERVICE_UNAVAILABLE',
	'63': 'COULD_NOT_PERFORM_TRANSACTION',
	'64': 'TRANSFER_TYPE_UNKNOWN'
};

/** Is CREATED first, and paid in the end. */
export const DELAYED = `${PREFIX}54`;
const DELAYED_MS = 25_000;

export function paymentScenario(phone: string): Partial<Script> {
	if (phone === DELAYED) return { afterMs: DELAYED_MS };
	const outcome = phone.startsWith(PREFIX) ? PAYMENTS[phone.slice(PREFIX.length)] : undefined;
	return outcome === undefined ? {} : { outcome };
}

/** By `referenceIdToRefund`. */
const REFUNDS: Readonly<Record<string, string>> = {
	'1': 'PAYER_NOT_FOUND',
	'2': 'INTERNAL_PROCESSING_ERROR',
	'3': 'APPROVAL_REJECTED',
	'4': 'EXPIRED',
	'5': 'pending',
	'6': 'pending',
	'7': 'NOT_ALLOWED',
	'8': 'NOT_ALLOWED_TARGET_ENVIRONMENT',
	'9': 'INVALID_CALLBACK_URL_HOST',
	'10': 'INVALID_CURRENCY',
	'11': 'INTERNAL_PROCESSING_ERROR',
	'12': 'SERVICE_UNAVAILABLE',
	'13': 'COULD_NOT_PERFORM_TRANSACTION'
};

export const refundScenario = (referenceIdToRefund: string): string | null =>
	REFUNDS[referenceIdToRefund] ?? null;

const HOLDERS: Readonly<Record<string, SimulatorAnswer>> = {
	'50': failure('RESOURCE_NOT_FOUND'),
	'51': ok({ result: false }),
	'52': failure('NOT_ALLOWED'),
	'53': failure('NOT_ALLOWED_TARGET_ENVIRONMENT'),
	'54': failure('INTERNAL_PROCESSING_ERROR'),
	'55': failure('SERVICE_UNAVAILABLE')
};

/** The answer of the active check. @param type as the path has it, in either case */
export function activeCheck(type: string, id: string): SimulatorAnswer {
	if (!isParty(type.toUpperCase(), id))
		return failure('REQUEST_REJECTED', 'The account holder is not valid.');
	const scenario = id.startsWith(PREFIX) ? HOLDERS[id.slice(PREFIX.length)] : undefined;
	// A number without its country code is nobody's.
	return scenario ?? ok({ result: !id.startsWith('0') });
}
