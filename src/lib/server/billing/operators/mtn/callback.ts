import type { CallbackHint } from '../operator.ts';
import { NO_HINT } from '../outcomes.ts';
import { jsonObject, textMember } from '../response.ts';
import { stateOf, type ReadMoney } from './outcomes.ts';

/** A callback has the body of a status read but no X-Reference-Id; externalId holds our reference. */
export function parseCallback(text: string, readMoney: ReadMoney): CallbackHint {
	const body = jsonObject(text);
	if (body === null) return NO_HINT;
	return {
		...NO_HINT,
		claimed: stateOf(body),
		reference: textMember(body, 'externalId'),
		providerReference: textMember(body, 'financialTransactionId'),
		...readMoney(body)
	};
}
