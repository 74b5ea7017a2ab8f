import { sumTakings } from '#lib/server/billing/earnings.ts';
import { env } from '$env/dynamic/private';
import { formatMoney } from '#lib/domain/money.ts';
import { readProxySettings } from '#lib/server/http/client-address.ts';
import { PAID, adminPage } from '#lib/server/web/admin.ts';
import { runChecks } from '#lib/server/checks.ts';

/** Each gateway may have several. */
const MAX_PROBLEMS = 30;

export const load = adminPage(async (event) => {
	const { app } = event.locals;
	const { monitoring, config } = app;
	const [readings, payments, today, week, findings] = await Promise.all([
		monitoring.read(),
		monitoring.recentPayments(),
		sumTakings(app, 'daily'),
		sumTakings(app, 'weekly'),
		runChecks(app, readProxySettings(env))
	]);
	const countOf = (operator: string, isWanted: (status: string) => boolean) =>
		payments
			.filter((one) => one.operator === operator && isWanted(one.status))
			.reduce((sum, { count }) => sum + count, 0);
	// The reviews are counted above.
	const problems = findings.filter(({ level, name }) => level !== 'ok' && name !== 'reviews');
	return {
		...readings,
		problems: problems.slice(0, MAX_PROBLEMS),
		moreProblems: Math.max(0, problems.length - MAX_PROBLEMS),
		passed: findings.filter(({ level }) => level === 'ok'),
		today: formatMoney(today, config.currency),
		week: formatMoney(week, config.currency),
		operators: [...new Set(payments.map(({ operator }) => operator))].map((name) => ({
			name,
			paid: countOf(name, (status) => PAID.some((one) => one === status)),
			failed: countOf(name, (status) => status === 'failed'),
			expired: countOf(name, (status) => status === 'expired'),
			pending: countOf(name, (status) => status === 'pending')
		}))
	};
});
