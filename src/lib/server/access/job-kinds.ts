/** Compares a grant with its pass and calls the gateway; its subject is the grant. */
export const GRANT_JOB = 'access.grant';
/** Creates the users of running passes at an added gateway; its subject is the gateway. */
export const GATEWAY_JOB = 'access.gateway';
/** Refunds a pass that no gateway confirmed in time; its subject is the pass. */
export const ACTIVATION_JOB = 'access.activating';
/** Starts a pass once its router responds; its subject is the pass. Stored jobs have this kind. */
export const AWAIT_ROUTER_JOB = 'access.sign';
/** Refunds time that no gateway confirmed: added, or started without a device. Its subject is the session. */
export const UNCONFIRMED_JOB = 'access.added';
/** Ends or extends a connection that a gateway reports; its subject is the connection. */
export const CONNECTION_JOB = 'access.connection';

/** A gateway must confirm a paid pass within this time. Otherwise the pass is refunded. */
export const ACTIVATION_TIMEOUT_MS = 10 * 60 * 1000;

/** Gateways take whole seconds: ends that differ by less are the same. */
export const SAME_END_MS = 2_000;
