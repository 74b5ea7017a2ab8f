import type { ApiAnswer, ApiRequest } from '../http/api-call.ts';
import { answerUnknown, pathBelow, type Endpoint, type Params } from '../http/endpoint.ts';
import { owner } from './owner.ts';
import { payments } from './payments.ts';
import { routers } from './routers.ts';
import { sessions } from './sessions.ts';
import { webhooks } from './webhooks.ts';

/** All of /v1: finds the endpoint of a request, by the paths of the contract. */

export const ENDPOINTS: readonly Endpoint[] = [...routers, ...sessions, ...payments, ...owner, ...webhooks];

/** By the number of parts of their paths, each with these parts. */
const BY_PARTS = Map.groupBy(
	ENDPOINTS.map((endpoint) => ({ endpoint, parts: endpoint.route.path.split('/') })),
	({ parts }) => parts.length
);

/** Answers whatever comes under /v1. */
export async function answerApi(request: ApiRequest): Promise<ApiAnswer> {
	const method = request.method === 'HEAD' ? 'GET' : request.method;
	const parts = decoded(request.pathname)?.split('/') ?? [];
	for (const { endpoint, parts: wanted } of BY_PARTS.get(parts.length) ?? []) {
		if (endpoint.route.method !== method) continue;
		const params = matched(wanted, parts);
		if (params) return endpoint.answer(request, params);
	}
	return answerUnknown(request);
}

/** The path below /v1 without percent-encoding, but for that of `%`, `/`, `?` and `#`; null when it is malformed. */
function decoded(pathname: string): string | null {
	const path = pathBelow(pathname);
	if (!path.includes('%')) return path;
	try {
		return path.split('%25').map(decodeURI).join('%25');
	} catch {
		return null;
	}
}

/** What stands where the wanted path has braces; null when it is another path. */
function matched(wanted: readonly string[], parts: readonly string[]): Params | null {
	const params: Record<string, string> = {};
	for (const [index, want] of wanted.entries()) {
		const part = parts[index] ?? '';
		if (!want.startsWith('{')) {
			if (part !== want) return null;
		} else {
			if (part === '') return null;
			params[want.slice(1, -1)] = part.includes('%') ? decodeURIComponent(part) : part;
		}
	}
	return params;
}
