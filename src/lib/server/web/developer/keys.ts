import type { RequestEvent } from '@sveltejs/kit';
import type { Visitor } from '../sign-in/sign-in.ts';

export async function keysOf({ locals }: RequestEvent, { account }: Visitor) {
	const { apiKeys } = locals.app;
	const keys = await apiKeys.list(account.id);
	return keys
		.map((key) => ({
			id: key.id,
			name: key.name,
			hint: key.hint,
			role: key.role,
			scopes: apiKeys.scopesIn(key),
			state: apiKeys.stateOf(key),
			createdAt: key.created_at,
			expiresAt: key.expires_at,
			lastUsedAt: key.last_used_at,
			revokedAt: key.revoked_at,
			/** True for Airtill's own keys (such as the demo's), which people cannot revoke. */
			isOwn: apiKeys.isOwn(key)
		}))
		.toReversed();
}
