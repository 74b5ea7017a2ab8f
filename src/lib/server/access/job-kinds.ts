/** Job: makes a gateway know what a pass is now; its subject is the grant. */
export const GRANT_JOB = 'access.grant';
/** Job: makes a gateway that was registered know of those whose time runs; its subject is the gateway. */
export const GATEWAY_JOB = 'access.gateway';
/** Job: gives up on a session that no gateway has let in; its subject is the session. */
export const ACTIVATING_JOB = 'access.activating';
/** Job: begins a session that waits for a sign of its router; its subject is the session. */
export const SIGN_JOB = 'access.sign';
/** Job: looks whether a gateway was told of added time that has begun; its subject is the session. */
export const ADDED_JOB = 'access.added';
/** Job: ends or prolongs a connection that a gateway accounts for; its subject is the network session. */
export const CONNECTION_JOB = 'access.connection';

/** A router that has not let a paid buyer in after this time gives the money back. */
export const ACTIVATING_MS = 10 * 60 * 1000;

/** Gateways are told whole seconds: an end that differs by less is the same. */
export const TOLD_ABOUT_MS = 2_000;
