/** Returns the username of a pass, which stays the same when time is added. */
export const loginUser = (passId: number): string => `s${passId}`;

/** Returns the pass id of a typed username, or null if it has another form. */
export function passOfUser(user: string): number | null {
	const digits = /^s(\d{1,15})$/i.exec(user.trim())?.[1];
	return digits === undefined ? null : Number(digits);
}
