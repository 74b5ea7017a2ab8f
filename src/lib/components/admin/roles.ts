export const ROLE_WORDS = {
	app: 'buys time with the API',
	owner: 'has routers and earnings',
	admin: 'runs the installation'
} as const;
