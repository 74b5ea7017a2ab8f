import { PROBLEMS, type ProblemCode, type ProblemItem } from '../contract/problems.ts';

export interface FieldProblem {
	/** The name of a form's field or of a command-line option. */
	field: string;
	reason: string;
}

export type Report = (field: string, reason: string) => void;

interface Details {
	/** Every wrong field. */
	fields?: readonly FieldProblem[];
	/** The same, by the places in a request of the API. */
	items?: readonly ProblemItem[];
	/** More members of the API's answer. */
	extensions?: Readonly<Record<string, unknown>>;
	cause?: unknown;
}

/**
 * Refuses what the caller wants. `reason` is stable, by default a code of the API; the message is for people.
 * Any other error, but Unavailable, is a bug.
 */
export class Refused<Reason extends string = ProblemCode> extends Error {
	/** src/server.js, which cannot import the class, shows the message only. */
	override name = 'Refused';
	readonly reason: Reason;
	readonly fields: readonly FieldProblem[];
	readonly items: readonly ProblemItem[] | null;
	readonly extensions: Readonly<Record<string, unknown>>;

	/** NoInfer: a mistyped code of the API is an error of types. */
	constructor(reason: NoInfer<Reason>, message?: string, details: Details = {}) {
		const { fields = [], items = null, extensions = {}, cause } = details;
		super(message ?? findProblem(reason)?.detail ?? reason, { cause });
		this.reason = reason;
		this.fields = fields;
		this.items = items;
		this.extensions = extensions;
	}

	/** Of HTTP. */
	get status(): number {
		return findProblem(this.reason)?.status ?? 400;
	}
}

export class NotFound<Reason extends string = ProblemCode> extends Refused<Reason> {}

export class Forbidden<Reason extends string = ProblemCode> extends Refused<Reason> {}

/** Something that we depend on did not answer, or not usably. */
export class Unavailable extends Error {
	readonly reason: string;
	/** false: nothing was sent. */
	readonly sent: boolean;
	/** When to ask again; null if unknown. */
	readonly waitSeconds: number | null;

	constructor(
		message: string,
		details: { reason?: string; sent?: boolean; waitSeconds?: number; cause?: unknown } = {}
	) {
		super(message, { cause: details.cause });
		this.reason = details.reason ?? 'unavailable';
		this.sent = details.sent ?? true;
		this.waitSeconds = details.waitSeconds ?? null;
	}
}

/** Refuses a file, a setting or a command for a reason that only people read. */
export const refuse = (message: string, details: Pick<Details, 'cause'> = {}) =>
	new Refused<'refused'>('refused', message, details);

/** Refuses input, with every wrong field. */
export const refuseFields = (...fields: FieldProblem[]) =>
	new Refused<'input'>('input', fields.map(({ field, reason }) => `${field}: ${reason}`).join('\n'), {
		fields
	});

export function validationFailed(items: readonly ProblemItem[]): Refused {
	const detail = items.length === 1 ? '1 field is invalid.' : `${items.length} fields are invalid.`;
	return new Refused('validation_failed', detail, { items });
}

const findProblem = (reason: string) =>
	Object.hasOwn(PROBLEMS, reason) ? PROBLEMS[reason as ProblemCode] : null;

/** Is it an answer of the API? */
export const isProblem = (error: unknown): error is Refused =>
	error instanceof Refused && findProblem(String(error.reason)) !== null;

/** Returns the result of work, or why it was refused. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<T | Refused<string>> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof Refused) return error as Refused<string>;
		throw error;
	}
}

/** A failed connection is an AggregateError without a message. */
export function messageOf(error: unknown): string {
	if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
	return error instanceof Error ? error.message : String(error);
}
