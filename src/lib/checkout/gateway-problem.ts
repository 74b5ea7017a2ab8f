import * as m from '#lib/i18n/messages.js';

/** Explains why a gateway refused a sign-in. An unknown reason gets a sentence that is always true. */
export function gatewayProblem(problem: string | null): string {
	switch (problem) {
		case 'wrong-password':
			return m.splash_problem_wrong_password();
		case 'time-over':
			return m.splash_problem_time_over();
		case 'too-many-devices':
			return m.splash_problem_too_many_devices();
		case 'not-ready':
			return m.splash_problem_not_ready();
		default:
			return m.splash_problem_unknown();
	}
}
