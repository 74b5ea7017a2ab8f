import type { KeyObject } from 'node:crypto';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { OperatorDependencies } from '../definition.ts';
import type { CallbackHint, RawCallback } from '../operator.ts';
import { NO_HINT } from '../outcomes.ts';
import { jsonObject, jsonOf, textMember } from '../response.ts';
import { createCache } from './cache.ts';
import type { PawapayClient } from './client.ts';
import { paidOf } from './outcomes.ts';
import type { PawapayValues } from './settings.ts';
import { isSigned, publicKey } from './signatures.ts';

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
		claimed: CLAIMS[textMember(body, 'status')?.toUpperCase() ?? ''] ?? 'unknown',
		authentic: !isVerified ? 'absent' : (await isAuthentic(context, raw)) ? 'verified' : 'invalid',
		// A refund's callback is about the refund, even if it names the deposit.
		reference: textMember(body, 'refundId') ?? textMember(body, 'depositId'),
		...paidOf(body)
	};
}

function isAuthentic(
	{ callbackUrl, clock, callbackKeys }: CallbackContext,
	{ method, headers, bytes, authority, path }: RawCallback
): Promise<boolean> {
	const published = new URL(callbackUrl);
	const targets = [
		{ authority, path },
		{ authority: published.host, path: published.pathname.replace(/\/$/, '') + path }
	];
	return isSigned({ method, headers, body: bytes, targets, now: clock.now() }, callbackKeys);
}

/** An unknown key causes a fetch, but forged callbacks cause at most one a minute. */
const KEY_TIMES = { freshMs: 24 * 60 * 60 * 1000, pauseMs: 60 * 1000 };

/** Finds pawaPay's key for signed callbacks by exact id (GET /v2/public-key/http). */
export function createCallbackKeys(
	client: PawapayClient,
	clock: Clock
): (id: string) => Promise<KeyObject | null> {
	const keys = createCache<ReadonlyMap<string, KeyObject>>(
		clock,
		async () => {
			const outcome = await client.get('/v2/public-key/http');
			return outcome.kind === 'response' && outcome.status === 200 ? readKeys(outcome.text) : null;
		},
		KEY_TIMES
	);
	return async (id) => (await keys.get())?.get(id) ?? (await keys.renewed())?.get(id) ?? null;
}

function readKeys(text: string): ReadonlyMap<string, KeyObject> | null {
	const list = jsonOf(text);
	if (!Array.isArray(list)) return null;
	const keys = new Map<string, KeyObject>();
	for (const entry of list as unknown[]) {
		const id = textMember(entry, 'id');
		const key = publicKey(textMember(entry, 'key') ?? '');
		if (id !== null && key) keys.set(id, key);
	}
	return keys;
}
