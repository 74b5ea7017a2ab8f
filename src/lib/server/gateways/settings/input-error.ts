export interface FieldProblem {
	/** The command-line option, without leading hyphens. */
	field: string;
	reason: string;
}

export type Report = (field: string, reason: string) => void;

/** Lists every wrong field with the reason. */
export class GatewayInputError extends Error {
	readonly problems: readonly FieldProblem[];

	constructor(problems: readonly FieldProblem[]) {
		super(problems.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
		this.name = 'GatewayInputError';
		this.problems = problems;
	}
}
