import { error } from '@sveltejs/kit';
import type { RequestHandler } from './$types';

/** GET /metrics: the metrics of this process for Prometheus, which sends METRICS_TOKEN. Without it there is no such page. */
export const GET: RequestHandler = async ({ request, locals: { app } }) => {
	if (!app.monitoring.isOn) error(404);
	if (!app.monitoring.mayRead(request.headers.get('authorization'))) {
		return new Response('Send METRICS_TOKEN as a bearer token.\n', {
			status: 401,
			headers: { 'www-authenticate': 'Bearer' }
		});
	}
	return new Response(await app.monitoring.text(), {
		headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
	});
};
