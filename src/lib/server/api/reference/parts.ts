import { endpointHref, endpointsOf, type ApiDocument } from '#lib/developer/openapi.ts';
import { TEST_NUMBERS } from '#lib/server/billing/operators/sandbox/scenarios.ts';
import { configTable, type Config } from '#lib/server/config/config.ts';
import { METRICS } from '#lib/server/platform/metrics.ts';
import { problemsOf } from './problem-pages.ts';

interface Installation {
	config: Config;
	document: ApiDocument;
}

/** Generated parts of guides, as Markdown. */
export const PARTS: Readonly<Record<string, (installation: Installation) => string>> = {
	settings: configTable,
	metrics: metricsTable,
	errors: ({ document }) => errorSections(document),
	events: ({ document }) => eventTable(document),
	limits: ({ config }) => limitsTable(config),
	deprecations: ({ document }) => deprecationList(document),
	'test-numbers': ({ config }) =>
		config.mode === 'live' ? 'This installation is live and has no test numbers.' : testNumberTable()
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
	[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const errorSections = (document: ApiDocument) =>
	problemsOf(document)
		.map(
			({ code, status, title, description }) =>
				`### ${code}\n\n**${status} ${title}.** ${description}\n\n[Example and endpoints](/problems/${code})`
		)
		.join('\n\n');

function eventTable(document: ApiDocument): string {
	const rows = endpointsOf(document)
		.filter(({ isWebhook }) => isWebhook)
		.map((endpoint) => [
			`[\`${endpoint.path}\`](${endpointHref(endpoint)})`,
			endpoint.operation.description.split('\n\n')[0] ?? ''
		]);
	return table(['Event', 'Meaning'], rows);
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
			[
				'Requests of all keys of an account in 60 seconds',
				`${config.rateLimitOfAccount} times the limit of a key`
			],
			['Requests without a valid key per address in 60 seconds', count(config.maxFailedKeys)],
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

function deprecationList(document: ApiDocument): string {
	const deprecated = endpointsOf(document).filter(({ operation }) => operation.deprecated);
	if (deprecated.length === 0) return 'Nothing is deprecated.';
	return deprecated
		.map(({ method, path, operation }) => {
			const { since, sunset, successor } = operation['x-deprecation'] ?? {};
			const use = successor ? ` Use \`${successor}\`.` : '';
			return `- \`${method} ${path}\`: deprecated since ${since}, removed on ${sunset}.${use}`;
		})
		.join('\n');
}

const testNumberTable = () =>
	table(
		['Last three digits', 'Result'],
		TEST_NUMBERS.map(({ digits, description }) => [digits, description])
	);
