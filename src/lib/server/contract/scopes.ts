export type Role = 'app' | 'owner' | 'admin';

/** A key without scopes may do everything that its role allows. */
export const SCOPE_TEXTS = {
	'routers:read': 'find routers',
	'sessions:read': 'read sessions and their passwords',
	'sessions:write': 'create and end sessions',
	'payments:read': 'read payments',
	'payments:write': 'request payments',
	'events:read': 'read events',
	'webhooks:read': 'list webhooks',
	'webhooks:write': 'register and delete webhooks',
	'owner:read': 'read earnings, users and vouchers',
	'owner:write': 'change prices and make vouchers'
} as const;

export type Scope = keyof typeof SCOPE_TEXTS;

/** The least role of a key that may have the scope. */
export const findLeastRole = (scope: Scope) => (scope.startsWith('owner:') ? 'owner' : 'app');

export const SCOPES = Object.keys(SCOPE_TEXTS) as [Scope, ...Scope[]];
