import type { KeyObject } from 'node:crypto';
import type { Clock } from '#lib/server/platform/clock.ts';
import { jsonOf, textMember } from '../response.ts';
import { createCache } from './cache.ts';
import type { PawapayClient } from './client.ts';
import { publicKey } from './signatures.ts';

/** An unknown key causes a fetch, but forged callbacks cause at most one a minute. */
const TIMES = { freshMs: 24 * 60 * 60 * 1000, pauseMs: 60 * 1000 };

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
		TIMES
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
