import type { Base } from '../../base.ts';

interface ObservedRequest {
	method: string;
	traceparent: string | null;
	/** Read at the end. `route` is a pattern; `id` names the request in the log. */
	about: () => { route: string; id: string };
}

/** Clients may send any method; the rare ones share a label, so that nobody can multiply the series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export async function observeRequest<Answer extends { status: number }>(
	{ metrics, traces }: Pick<Base, 'metrics' | 'traces'>,
	request: ObservedRequest,
	work: () => Promise<Answer>
): Promise<Answer> {
	if (!metrics.isOn && !traces.isOn) return work();
	const startedAt = performance.now();
	const { traceparent } = request;
	return traces.span({ name: 'request', kind: 'server', traceparent }, async (span) => {
		const answer = await work();
		const { status } = answer;
		const { route, id } = request.about();
		const method = METHODS.includes(request.method) ? request.method : 'other';
		span.name = `${method} ${route}`;
		Object.assign(span.attributes, {
			'http.request.method': method,
			'http.route': route,
			'http.response.status_code': status,
			'airtill.request': id,
			...(status >= 500 && { 'error.type': String(status) })
		});
		metrics.count('airtill_http_requests_total', { method, route, status });
		metrics.observe('airtill_http_request_duration_seconds', { method, route }, startedAt);
		return answer;
	});
}
