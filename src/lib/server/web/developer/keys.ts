import type { RequestEvent } from '@sveltejs/kit';
import type { Visitor } from '../sign-in/sign-in.ts';

export async function keysOf({ locals }: RequestEvent, { account }: Visitor) {
	const { apiKeys, clock } = locals.app;
	const now = clock.now();
	const keys = await apiKeys.list(account.id);
	return keys
		.map((key) => ({
			id: key.id,
			name: key.name,
			hint: key.hint,
			role: key.role,
			scopes: apiKeys.scopesIn(key),
			state: stateOf(key, apiKeys.mode, now),
			createdAt: key.created_at,
			expiresAt: key.expires_at,
			lastUsedAt: key.last_used_at,
			revokedAt: key.revoked_at,
			/** True for Airtill's own keys (such as the demo's), which people cannot revoke. */
			isOwn: apiKeys.isOwn(key)
		}))
		.toReversed();
}

function stateOf(
	key: { hint: string; revoked_at: number | null; expires_at: number | null },
	mode: string,
	now: number
): 'active' | 'expired' | 'revoked' | 'other-mode' {
	if (key.revoked_at !== null) return 'revoked';
	if (key.expires_at !== null && key.expires_at <= now) return 'expired';
	return key.hint.startsWith(`atl_${mode}_`) ? 'active' : 'other-mode';
}
