/** Carries a captive session from the splash page to a purchase that the buyer finds by its code. */

/** In addresses of pages that are open during an update, so it does not change. */
const PARAMETER = 'visit';

export const withCaptiveSession = (path: string, id: string | null): string =>
	id === null ? path : `${path}?${PARAMETER}=${id}`;

/** Returns an id that may be of no captive session. */
export const captiveSessionIn = ({ searchParams }: URL): string | null => searchParams.get(PARAMETER);
