import { PROBLEMS } from '../contract/problems.ts';
import type { AppError } from '#lib/server/platform/errors.ts';
import type { ApiAnswer } from './api-call.ts';

const PROBLEM_TYPE = 'application/problem+json';

/** The answer to an error: RFC 9457 with Airtill's members. `origin` is where the catalogue of codes is read. */
export function problemAnswer(error: AppError, context: { origin: string; requestId: string }): ApiAnswer {
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
	return { status, headers: { 'content-type': PROBLEM_TYPE }, body: JSON.stringify(body) };
}
