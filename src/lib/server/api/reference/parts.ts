import { ACCOUNT_FACTOR, MAX_FAILED_KEYS } from '../middleware.ts';
import { TEST_NUMBERS } from '../../billing/operators/sandbox.ts';
import { formatConfigTable, type Config } from '#lib/server/config/config.ts';
import { EVENT_TEXTS } from '#lib/server/contract/webhooks.ts';
import { ITEM_CODES, PROBLEMS, PROBLEM_CODES, type ProblemCode } from '#lib/server/contract/problems.ts';
import { METRICS } from '#lib/server/platform/metrics.ts';
import { PROBLEM_EXAMPLES } from '../endpoint.ts';
import { ROUTES } from '../api.ts';

/** Generated parts of guides, as Markdown. */
export const PARTS: Readonly<Record<string, (config: Config) => string>> = {
	settings: formatConfigTable,
	metrics: metricsTable,
	'invalid-values': () => listMeanings('Code', ITEM_CODES),
	errors: () => PROBLEM_CODES.map(errorSection).join('\n\n'),
	events: () => listMeanings('Event', EVENT_TEXTS),
	limits: limitsTable,
	deprecations: deprecationList,
	'test-numbers': ({ mode }) =>
		mode === 'live' ? 'This installation is live and has no test numbers.' : testNumberTable()
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
	[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const listMeanings = (title: string, texts: Readonly<Record<string, string>>) => {
	const rows = Object.entries(texts).map(([name, text]) => [`\`${name}\``, text]);
	return table([title, 'Meaning'], rows);
};

/** Members that every problem has. */
const COMMON = ['type', 'title', 'status', 'detail', 'code', 'request_id'];

function errorSection(code: ProblemCode): string {
	const { status, title, meaning, advice } = PROBLEMS[code];
	const example = PROBLEM_EXAMPLES[code]?.value ?? {};
	const own = Object.fromEntries(Object.entries(example).filter(([name]) => !COMMON.includes(name)));
	return [
		`### ${code}`,
		`**${status} ${title}.** ${meaning}`,
		`**What to do:** ${advice}`,
		...(Object.keys(own).length === 0
			? []
			: [`\`\`\`json Extra members, for example\n${JSON.stringify(own, null, 2)}\n\`\`\``])
	].join('\n\n');
}

function limitsTable(config: Config): string {
	const minutes = (milliseconds: number) => `${milliseconds / 60_000} minutes`;
	const hours = (milliseconds: number) => `${milliseconds / 3_600_000} hours`;
	const count = (value: number) => value.toLocaleString('en');
	return table(
		['Limit', 'This installation'],
		[
			['Requests per key in 60 seconds, default rate plan', count(config.rateLimits.default)],
			['Requests per key in 60 seconds, enterprise rate plan', count(config.rateLimits.enterprise)],
			['Requests of all keys of an account in 60 seconds', `${ACCOUNT_FACTOR} times the limit of a key`],
			['Requests without a valid key per address in 60 seconds', count(MAX_FAILED_KEYS)],
			['Time to pay a session', minutes(config.sessionPaymentMs)],
			['Time until an unanswered payment shows as `expired`', minutes(config.paymentTimeoutMs)],
			['Time after the cancellation in which a late payment buys the time', minutes(config.latePaymentMs)],
			['Time in which we ask the operator about an unanswered payment', hours(config.reconcileMs)],
			['Payments per session', count(config.maxPaymentAttempts)],
			['Payment prompts per phone number and account in 15 minutes', count(config.maxPayerPrompts)],
			[
				'Unpaid payment prompts of an account without payments in 15 minutes',
				count(config.maxUnpaidPrompts.source)
			],
			['Highest price per hour', `${config.currency} ${count(config.maxPrice)}`],
			['Currency', config.currency],
			['Country of phone numbers without a country code', config.defaultRegion],
			['Time zone of days in reports', config.reportTimezone]
		]
	);
}

function metricsTable(): string {
	const rows = Object.entries(METRICS).map(([name, metric]) => {
		const labels = 'labels' in metric ? metric.labels.map((label) => `\`${label}\``).join(', ') : '';
		return [`\`${name}\``, metric.help, labels];
	});
	return table(['Metric', 'Meaning', 'Labels'], rows);
}

function deprecationList(): string {
	const lines = ROUTES.flatMap(({ method, path, deprecation }) => {
		if (!deprecation) return [];
		const { since, sunset, successor } = deprecation;
		const use = successor === null ? '' : ` Use \`${successor}\`.`;
		return [
			`- \`${method.toUpperCase()} /v1${path}\`: deprecated since ${since}, removed on ${sunset}.${use}`
		];
	});
	return lines.length === 0 ? 'Nothing is deprecated.' : lines.join('\n');
}

const testNumberTable = () =>
	table(
		['Last three digits', 'Result'],
		TEST_NUMBERS.map(({ digits, description }) => [digits, description])
	);
