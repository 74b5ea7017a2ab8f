import type { OperatorDependencies } from '../definition.ts';
import type { CallbackHint, RawCallback } from '../operator.ts';
import { NO_HINT } from '../outcomes.ts';
import { jsonObject, textMember } from '../response.ts';
import type { createCallbackKeys } from './callback-keys.ts';
import { paidOf } from './outcomes.ts';
import type { PawapayValues } from './settings.ts';
import { isSigned } from './signatures.ts';

export interface CallbackContext extends Pick<OperatorDependencies, 'callbackUrl' | 'clock'> {
	values: PawapayValues;
	callbackKeys: ReturnType<typeof createCallbackKeys>;
}

const CLAIMS: Readonly<Record<string, CallbackHint['claimed']>> = {
	COMPLETED: 'succeeded',
	FAILED: 'failed',
	ACCEPTED: 'pending',
	SUBMITTED: 'pending',
	PROCESSING: 'pending',
	ENQUEUED: 'pending',
	IN_RECONCILIATION: 'pending'
};

export async function parseCallback(context: CallbackContext, raw: RawCallback): Promise<CallbackHint> {
	const body = jsonObject(raw.body);
	const isVerified = context.values.PAWAPAY_VERIFY_CALLBACKS === 'on';
	return {
		...NO_HINT,
		claimed: CLAIMS[textMember(body, 'status') ?? ''] ?? 'unknown',
		authentic: !isVerified ? 'absent' : (await isAuthentic(context, raw)) ? 'verified' : 'invalid',
		// A refund's callback is about the refund, even if it names the deposit.
		reference: textMember(body, 'refundId') ?? textMember(body, 'depositId'),
		...paidOf(body)
	};
}

function isAuthentic(
	{ callbackUrl, clock, callbackKeys }: CallbackContext,
	{ method, headers, body, authority, path }: RawCallback
): Promise<boolean> {
	const published = new URL(callbackUrl);
	const targets = [
		{ authority, path },
		{ authority: published.host, path: published.pathname.replace(/\/$/, '') + path }
	];
	return isSigned({ method, headers, body, targets, now: clock.now() }, callbackKeys);
}
