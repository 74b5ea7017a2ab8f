import { PROBLEMS, type ProblemCode, type ProblemItem } from '../contract/problems.ts';

/** Reports a broken rule to the caller. Any other error is a bug and becomes a 500. */
export class AppError extends Error {
	readonly code: ProblemCode;
	readonly status: number;
	readonly extensions: Readonly<Record<string, unknown>>;
	readonly items: readonly ProblemItem[] | null;

	/** @param detail default: the one in the documentation of the code */
	constructor(
		code: ProblemCode,
		detail: string = PROBLEMS[code].detail,
		options: { extensions?: Record<string, unknown>; items?: ProblemItem[]; cause?: unknown } = {}
	) {
		super(detail, { cause: options.cause });
		this.code = code;
		this.status = PROBLEMS[code].status;
		this.extensions = options.extensions ?? {};
		this.items = options.items ?? null;
	}
}

export function validationFailed(items: ProblemItem[]): AppError {
	const detail = items.length === 1 ? '1 field is invalid.' : `${items.length} fields are invalid.`;
	return new AppError('validation_failed', detail, { items });
}

/** Refuses a change, with a message for the person. */
export class Refusal<Reason extends string> extends Error {
	readonly reason: Reason;

	constructor(reason: Reason, message: string = reason) {
		super(message);
		this.reason = reason;
	}
}

export interface FieldProblem {
	/** The command-line option, without leading hyphens. */
	field: string;
	reason: string;
}

export type Report = (field: string, reason: string) => void;

/** Refuses input. Lists every wrong field with the reason. */
export class InputError extends Error {
	readonly problems: readonly FieldProblem[];

	constructor(problems: readonly FieldProblem[]) {
		super(problems.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
		this.problems = problems;
	}
}

/** Returns the result of work, or its error of this kind. Any other error is thrown. */
export async function attempt<T, E extends Error>(
	kind: abstract new (...args: never[]) => E,
	work: () => T | Promise<T>
): Promise<T | E> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof kind) return error;
		throw error;
	}
}

/** A failed connection is an AggregateError without a message. */
export function messageOf(error: unknown): string {
	if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
	return error instanceof Error ? error.message : String(error);
}
