import { PROBLEMS, type ProblemCode } from '../api/contract/problems.ts';
import type { ProblemItem } from '../api/contract/schemas.ts';

/**
 * The error that services throw for a broken rule: a stable code, a sentence for the caller and optional extension
 * members of the response. Anything else that is thrown is a bug and becomes a 500.
 */
export class AppError extends Error {
	readonly code: ProblemCode;
	readonly status: number;
	readonly extensions: Readonly<Record<string, unknown>>;
	readonly items: readonly ProblemItem[] | null;

	constructor(
		code: ProblemCode,
		detail: string,
		options: { extensions?: Record<string, unknown>; items?: ProblemItem[]; cause?: unknown } = {}
	) {
		super(detail, { cause: options.cause });
		this.name = 'AppError';
		this.code = code;
		this.status = PROBLEMS[code].status;
		this.extensions = options.extensions ?? {};
		this.items = options.items ?? null;
	}
}

/** Creates a `validation_failed` error for the given fields. */
export function validationFailed(items: ProblemItem[]): AppError {
	const detail = items.length === 1 ? '1 field is invalid.' : `${items.length} fields are invalid.`;
	return new AppError('validation_failed', detail, { items });
}
