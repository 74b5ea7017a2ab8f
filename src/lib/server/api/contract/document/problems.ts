import { z } from 'zod';
import { PROBLEM_TEXTS } from './describe-problems.ts';
import { PROBLEMS, type ProblemCode } from '../problems.ts';
import { SCOPES } from '../routes.ts';
import { problem, problemItem, sessionStatus } from '../schemas.ts';

/**
 * One shape for each error code: what every problem has (RFC 9457), with the constants of the code and the
 * members that only this code has. Clients switch on `code`; one they do not know they treat by its status.
 */

const duration = z.string().regex(/^[1-9][0-9]{0,4}[mhdw]$/);

/** Members beyond those of every problem. */
const EXTENSIONS: Readonly<Partial<Record<ProblemCode, z.ZodRawShape>>> = {
	validation_failed: {
		errors: z.array(problemItem).min(1).meta({ description: 'Everything that is wrong with the request.' })
	},
	insufficient_scope: {
		required_scope: z.enum(SCOPES).meta({ description: 'The scope that the API key lacks.' })
	},
	duration_not_allowed: {
		min_duration: duration.meta({ description: 'Shortest time that the router sells.' }),
		max_duration: duration.meta({ description: 'Longest time that the router sells.' })
	},
	payment_method_not_supported: {
		payment_methods: z.array(z.string()).meta({ description: 'What the router accepts.' })
	},
	session_not_active: { session_status: sessionStatus },
	session_not_extendable: { session_status: sessionStatus },
	session_not_payable: { session_status: sessionStatus },
	amount_mismatch: {
		expected_amount: z.number().meta({ description: 'The amount to pay, in major units of `currency`.' }),
		currency: z
			.string()
			.regex(/^[A-Z]{3}$/)
			.meta({ description: 'ISO 4217 code.' })
	},
	payment_in_progress: {
		payment_id: z.int().meta({ description: 'Id of the payment that is pending.' })
	},
	rate_limit_exceeded: {
		retry_after: z.int().min(1).max(60).meta({ description: 'Seconds until a request is admitted again.' }),
		'violated-policies': z
			.array(z.string())
			.min(1)
			.meta({ description: 'Names of the rate-limit policies that were exceeded.' })
	}
};

/** `Problem` of the document: what every error has. */
export const anyProblem = problem.omit({ errors: true }).meta({
	id: 'Problem',
	description:
		'An error (RFC 9457). `code` is the contract: switch on it, and treat a code you do not know by its status.'
});

/** "amount_mismatch" -> "AmountMismatchProblem" */
export const problemName = (code: ProblemCode) =>
	`${code.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())}Problem`;

function shapeOf(code: ProblemCode): z.ZodType {
	const { status, title, type }: { status: number; title: string; type?: string } = PROBLEMS[code];
	const own = z.object({
		type: type === undefined ? z.string().regex(new RegExp(`/problems/${code}$`)) : z.literal(type),
		title: z.literal(title),
		status: z.literal(status),
		code: z.literal(code),
		...EXTENSIONS[code]
	});
	const { meaning, advice } = PROBLEM_TEXTS[code];
	const description = `${meaning}\n\n**What to do:** ${advice}`;
	return anyProblem.and(own).meta({ id: problemName(code), description });
}

const SHAPES = new Map<ProblemCode, z.ZodType>();

/** The shape of one code; the same object each time, because it is one component of the document. */
export function problemShape(code: ProblemCode): z.ZodType {
	const shape = SHAPES.get(code) ?? shapeOf(code);
	SHAPES.set(code, shape);
	return shape;
}
