/** What each scope of an API key allows, in a few words. */
const WORDS: Readonly<Record<string, string>> = {
	'routers:read': 'find routers',
	'sessions:read': 'read sessions and their passwords',
	'sessions:write': 'order and end sessions',
	'payments:read': 'read payments',
	'payments:write': 'ask people to pay',
	'webhooks:write': 'register webhooks',
	'owner:read': 'read earnings and users',
	'owner:write': 'change prices'
};

export const scopeWords = (scope: string): string => WORDS[scope] ?? '';
