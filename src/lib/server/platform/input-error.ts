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
		this.name = 'InputError';
		this.problems = problems;
	}
}
