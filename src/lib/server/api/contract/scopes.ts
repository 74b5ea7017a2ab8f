export type Role = 'app' | 'owner' | 'admin';

/** A key without scopes may do everything that its role allows. */
export const SCOPES = [
	'routers:read',
	'sessions:read',
	'sessions:write',
	'payments:read',
	'payments:write',
	'webhooks:write',
	'owner:read',
	'owner:write'
] as const;

export type Scope = (typeof SCOPES)[number];
