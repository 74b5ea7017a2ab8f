/** Names of fields, as in the options of the command line. */
export type InputField =
	| 'name'
	| 'router'
	| 'kind'
	| 'login-host'
	| 'secret'
	| 'level'
	| 'site'
	| 'access-point'
	| 'external-access'
	| 'token'
	| 'control'
	| 'nas'
	| 'ndsctl'
	| 'api'
	| 'api-user'
	| 'api-key'
	| 'api-certificate'
	| 'api-insecure'
	| 'radius-secret';

export interface FieldProblem {
	field: InputField;
	reason: string;
}

/** Collects the problems of an input. */
export type Report = (field: InputField, reason: string) => void;

/** The input is invalid; lists every wrong field with the reason. */
export class GatewayInputError extends Error {
	readonly problems: readonly FieldProblem[];

	constructor(problems: readonly FieldProblem[]) {
		super(problems.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
		this.name = 'GatewayInputError';
		this.problems = problems;
	}
}
