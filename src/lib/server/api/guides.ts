import { type Config, formatConfigTable } from '#lib/server/config/config.ts';
import { ACCOUNT_FACTOR, MAX_FAILED_KEYS } from './call.ts';
import { TEST_NUMBERS } from '../billing/operators/sandbox.ts';
import { EVENT_TEXTS } from '#lib/server/contract/webhooks.ts';
import { ITEM_CODES, PROBLEMS, PROBLEM_CODES, type ProblemCode } from '#lib/server/contract/problems.ts';
import { METRICS } from '#lib/server/platform/metrics.ts';
import { PROBLEM_EXAMPLES } from './route.ts';
import { ROUTES } from './api.ts';

/**
 * Guides in src/docs/api are served as /docs/NAME, the others as /docs/guides/NAME, and the one about errors as
 * /problems, to whose sections the `type` of an error leads.
 * `http://localhost:3000` becomes this installation's address, when a page is sent (web/shared-pages.ts).
 * A comment such as `<!-- settings -->` becomes one of PARTS.
 * The router of the quickstart becomes one of this installation (example-router.ts).
 */

const FILES: Record<string, string> = import.meta.glob(['/src/docs/*.md', '/src/docs/api/*.md'], {
	query: '?raw',
	import: 'default',
	eager: true
});

const TOPICS = ['quickstart', 'webhooks', 'errors', 'states', 'limits', 'versioning'];
const GUIDES = [
	'install',
	'go-live',
	'routers-and-gateways',
	'mikrotik-that-fetches',
	'operators',
	'prices',
	'owners',
	'kiosk-and-posters',
	'languages-and-map',
	'backup-and-upgrade',
	'scaling',
	'high-availability',
	'monitoring',
	'security',
	'configuration'
];

const EXAMPLE_ORIGIN = 'http://localhost:3000';

/** Stands for this installation's address in pages that are rendered once for all addresses. */
export const ANY_ORIGIN = 'https://any-address.invalid';

interface Guide {
	/** Path of its page. */
	href: string;
	/** A topic of the API; otherwise a guide for who runs Airtill. */
	isTopic: boolean;
	title: string;
	/** The first paragraph. */
	description: string;
	/** Markdown with the values of this installation. */
	text: string;
}

const hrefOf = (name: string): string => {
	if (name === 'errors') return '/problems';
	return TOPICS.includes(name) ? `/docs/${name}` : `/docs/guides/${name}`;
};

/** Rewrites "operators.md#callbacks" as "/docs/guides/operators#callbacks". */
const withServedLinks = (text: string) =>
	text.replace(
		/\]\((?:[\w-]+\/|\.\.\/)*([\w-]+)\.md(#[\w-]+)?\)/g,
		(_link, name: string, anchor = '') => `](${hrefOf(name)}${anchor})`
	);

function readGuide(name: string, config: Config): Guide {
	const isTopic = TOPICS.includes(name);
	const file = FILES[`/src/docs/${isTopic ? 'api/' : ''}${name}.md`];
	if (file === undefined) throw new Error(`The guide ${name} is missing`);
	const [heading = '', description = ''] = file.split('\n\n');
	const text = withServedLinks(file)
		.replaceAll(EXAMPLE_ORIGIN, ANY_ORIGIN)
		.replace(/<!-- ([\w-]+) -->/g, (comment, part: string) => PARTS[part]?.(config) ?? comment);
	return {
		href: hrefOf(name),
		isTopic,
		title: heading.replace(/^# /, ''),
		description: description.replaceAll('\n', ' '),
		text
	};
}

let kept: { config: Config; guides: readonly Guide[] } | null = null;

/** All guides, those about the API first. */
export function readGuides(config: Config): readonly Guide[] {
	if (kept?.config !== config) {
		kept = { config, guides: [...TOPICS, ...GUIDES].map((name) => readGuide(name, config)) };
	}
	return kept.guides;
}

/** Generated parts of guides, as Markdown. */
const PARTS: Readonly<Record<string, (config: Config) => string>> = {
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
