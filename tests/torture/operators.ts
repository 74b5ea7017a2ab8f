/** What the torture has to know of a simulated operator beside its protocol. */
import type { Protocol } from '../simulators/frame.ts';
import { mtn } from '../simulators/mtn.ts';

export interface TorturedOperator {
	/** The id of our adapter. */
	id: string;
	protocol: () => Protocol;
	/** The payment method that it carries. */
	method: string;
	/** The number of a payer who has none of the operator's test numbers, E.164; every `index` below 10,000,000 another one. */
	phone: (index: number) => string;
	/** Ways in which a payment or refund ends without money, in the operator's code. */
	failures: readonly string[];
	/** Refusals of a submit, in the operator's code: nothing is queued. */
	refusals: readonly string[];
	/** It has no reference of ours, so a lost answer cannot be asked for. */
	blind: boolean;
}

const digits = (index: number) => String(index).padStart(7, '0');

export const OPERATORS: Readonly<Record<string, TorturedOperator>> = {
	mtn: {
		id: 'mtn',
		protocol: () => mtn({ market: 'mtnuganda' }),
		method: 'mtn_momo',
		phone: (index) => `+25677${digits(index)}`,
		failures: ['NOT_ENOUGH_FUNDS', 'APPROVAL_REJECTED', 'EXPIRED', 'INTERNAL_PROCESSING_ERROR'],
		refusals: ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'PAYER_NOT_FOUND'],
		blind: false
	}
};
