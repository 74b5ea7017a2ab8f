import * as m from '#lib/i18n/messages.js';

const PROBLEMS: Readonly<Record<string, () => string>> = {
	'wrong-password': m.splash_problem_wrong_password,
	'time-over': m.splash_problem_time_over,
	'too-many-devices': m.splash_problem_too_many_devices,
	'not-ready': m.splash_problem_not_ready
};

/** Explains why a gateway refused a sign-in. An unknown reason gets a sentence that is always true. */
export const gatewayProblem = (problem: string | null): string =>
	(PROBLEMS[problem ?? ''] ?? m.splash_problem_unknown)();
