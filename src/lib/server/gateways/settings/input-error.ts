export interface FieldProblem {
	/** The option of the command line, without hyphens in front. */
	field: string;
	reason: string;
}

/** Collects the problems of an input. */
export type Report = (field: string, reason: string) => void;

/** The input is invalid; lists every wrong field with the reason. */
export class GatewayInputError extends Error {
	readonly problems: readonly FieldProblem[];

	constructor(problems: readonly FieldProblem[]) {
		super(problems.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
		this.name = 'GatewayInputError';
		this.problems = problems;
	}
}
