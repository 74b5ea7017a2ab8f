import { PROBLEMS } from '../contract/problems.ts';
import type { AppError } from '../errors.ts';

const PROBLEM_HEADERS = { 'content-type': 'application/problem+json' };

/** The answer to an error: RFC 9457 with Airtill's members. `origin` is where the catalogue of codes is read. */
export function problemResponse(error: AppError, context: { origin: string; requestId: string }): Response {
	const { status, title, type }: { status: number; title: string; type?: string } = PROBLEMS[error.code];
	const body = {
		type: type ?? `${context.origin}/problems/${error.code}`,
		title,
		status,
		detail: error.message,
		code: error.code,
		request_id: context.requestId,
		...(error.items ? { errors: error.items } : {}),
		...error.extensions
	};
	return new Response(JSON.stringify(body), { status, headers: PROBLEM_HEADERS });
}
