export const MIN_PASSWORD_CHARACTERS = 12;
export const MAX_PASSWORD_CHARACTERS = 128;

/** Returns why a password is not allowed, or null. */
export function passwordProblem(password: string): string | null {
	if (password.length < MIN_PASSWORD_CHARACTERS) {
		return `Use at least ${MIN_PASSWORD_CHARACTERS} characters. A few words are fine.`;
	}
	if (password.length > MAX_PASSWORD_CHARACTERS) return `Use at most ${MAX_PASSWORD_CHARACTERS} characters.`;
	return null;
}
