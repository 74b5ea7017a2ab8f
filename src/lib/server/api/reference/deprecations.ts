import { ROUTES, type Route } from '../contract/routes.ts';

export interface DeprecationView {
	method: string;
	path: string;
	/** Days. */
	since: string;
	sunset: string;
	/** Path or address of what replaces it. */
	successor: string | null;
}

/** Endpoints that go away, the first one first. The document only marks them; the days stand in the route table. */
export const deprecationsOf = (routes: readonly Route[] = ROUTES): DeprecationView[] =>
	routes
		.flatMap(({ method, path, deprecation }) =>
			deprecation ? [{ method, path: `/v1${path}`, ...deprecation }] : []
		)
		.sort((one, other) => one.sunset.localeCompare(other.sunset));
