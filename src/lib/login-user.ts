/** The user name of a session at gateways that ask for one. The session's password belongs to it. */
export const loginUser = (sessionId: number): string => `s${sessionId}`;
