/** Returns the username of a pass. Added time keeps it. */
export const loginUser = (passId: number): string => `s${passId}`;

/** Returns the pass id of a username as people type it, or null if it has another form. */
export function passOfUser(user: string): number | null {
	const digits = /^s(\d{1,15})$/i.exec(user.trim())?.[1];
	return digits === undefined ? null : Number(digits);
}
