const WORDS: Readonly<Record<string, string>> = {
	'routers:read': 'find routers',
	'sessions:read': 'read sessions and their passwords',
	'sessions:write': 'create and end sessions',
	'payments:read': 'read payments',
	'payments:write': 'request payments',
	'webhooks:write': 'register webhooks',
	'owner:read': 'read earnings and users',
	'owner:write': 'change prices'
};

export const scopeWords = (scope: string): string => WORDS[scope] ?? '';
