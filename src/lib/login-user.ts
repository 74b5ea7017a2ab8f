/** The user name of a pass at gateways that ask for one; added time keeps it. The pass' password belongs to it. */
export const loginUser = (passId: number): string => `s${passId}`;
