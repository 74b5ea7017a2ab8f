import type { Base } from '../../base.ts';

interface ObservedRequest {
	method: string;
	/** Returns the pattern of the route, which is known at the end. */
	findRoute: () => string;
}

/** Clients may send any method; the rare ones share a label, so that nobody can multiply the series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export async function observeRequest<Answer extends { status: number }>(
	{ metrics }: Pick<Base, 'metrics'>,
	request: ObservedRequest,
	work: () => Promise<Answer>
): Promise<Answer> {
	if (!metrics.isOn) return work();
	const startedAt = performance.now();
	const answer = await work();
	const route = request.findRoute();
	const method = METHODS.includes(request.method) ? request.method : 'other';
	metrics.count('airtill_http_requests_total', { method, route, status: answer.status });
	metrics.observe('airtill_http_request_duration_seconds', { method, route }, startedAt);
	return answer;
}
