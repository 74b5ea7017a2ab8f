import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { isTestOutcome, TEST_OUTCOMES } from '#lib/checkout/test-outcomes.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { readFields } from '#lib/server/web/form.ts';
import { requireDeveloper } from '#lib/server/web/developer.ts';
import type { Actions, PageServerLoad } from './$types';

const HERE = '/developer/payments';

function testPaymentsOf({ locals }: RequestEvent) {
	const { testPayments } = locals.app;
	if (!testPayments) error(404, 'Test payments exist only in a sandbox. This installation is live.');
	return testPayments;
}

export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	const payments = await testPaymentsOf(event).recent(account.id);
	return {
		outcomes: TEST_OUTCOMES,
		payments: payments.map((payment) => ({ ...payment, createdAt: Date.parse(payment.created_at) })),
		settled: Number(event.url.searchParams.get('settled')) || null
	};
};

export const actions: Actions = {
	settle: async (event) => {
		const { account } = await requireDeveloper(event);
		const testPayments = testPaymentsOf(event);
		const { field } = await readFields(event.request);
		const [id, outcome] = [Number(field('payment')), field('outcome')];
		if (!isTestOutcome(outcome)) return fail(400, { problem: 'Choose a result for the payment.' });
		if (!(await testPayments.setOutcome(account, id, outcome))) {
			return fail(409, { problem: 'This payment is already settled, or it is not in this list.' });
		}
		redirect(303, `${HERE}?settled=${id}`);
	},
	start: async (event) => {
		const { account } = await requireDeveloper(event);
		const testPayments = testPaymentsOf(event);
		if (account.status === 'suspended') return fail(403, { problem: 'This account is suspended.' });
		try {
			const payment = await testPayments.start(account);
			if (!payment) return fail(409, { problem: 'No router near the centre of the map is selling time.' });
		} catch (problem) {
			if (!(problem instanceof AppError)) throw problem;
			return fail(problem.status, { problem: problem.message });
		}
		redirect(303, HERE);
	}
};
