import { createMiddleware } from 'hono/factory';
import type { Deprecation } from '../route.ts';
import { originFor, type ApiEnv } from '../env.ts';

/**
 * Sends `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and links to the reason and the successor (RFC 8288).
 * From the sunset on, the route is unknown.
 */
export const deprecated = ({ since, sunset, successor }: Deprecation) =>
	createMiddleware<ApiEnv>(async (c, next) => {
		if (c.var.app.clock.now() >= Date.parse(sunset)) return c.notFound();
		await next();
		c.header('deprecation', `@${Math.floor(Date.parse(since) / 1000)}`);
		c.header('sunset', new Date(sunset).toUTCString());
		c.header('link', `<${originFor(c)}/docs/deprecations>; rel="deprecation"`, { append: true });
		if (successor !== null) c.header('link', `<${successor}>; rel="successor-version"`, { append: true });
		return undefined;
	});
