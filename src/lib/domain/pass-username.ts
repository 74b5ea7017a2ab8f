/** The user name of a pass at gateways that ask for one; added time keeps it. The pass' password belongs to it. */
export const loginUser = (passId: number): string => `s${passId}`;

/** The pass of a user name as people type it; null when it is none of ours. */
export function passOfUser(user: string): number | null {
	const digits = /^s(\d{1,15})$/i.exec(user.trim())?.[1];
	return digits === undefined ? null : Number(digits);
}
