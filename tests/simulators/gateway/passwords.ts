/** Passwords of sessions from the API, in the place of RADIUS. @returns null for users that are no active session */
export function passwordsFrom(api: string, key: string): (user: string) => Promise<string | null> {
	return async (user) => {
		const id = /^s(\d+)$/.exec(user)?.[1];
		if (id === undefined) return null;
		const response = await fetch(`${api}/sessions/${id}`, { headers: { authorization: `Bearer ${key}` } });
		if (!response.ok) return null;
		const { password } = (await response.json()) as { password: string | null };
		return password;
	};
}
