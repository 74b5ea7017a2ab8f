export type Role = 'app' | 'owner' | 'admin';

/** A key without scopes may do everything that its role allows. */
export const SCOPE_TEXTS = {
	'routers:read': 'find routers',
	'sessions:read': 'read sessions and their passwords',
	'sessions:write': 'create and end sessions',
	'payments:read': 'read payments',
	'payments:write': 'request payments',
	'events:read': 'read events',
	'webhooks:write': 'register webhooks',
	'owner:read': 'read earnings and users',
	'owner:write': 'change prices'
} as const;

export type Scope = keyof typeof SCOPE_TEXTS;

export const SCOPES = Object.keys(SCOPE_TEXTS) as [Scope, ...Scope[]];
