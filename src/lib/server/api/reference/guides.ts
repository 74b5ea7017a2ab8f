import type { Config } from '#lib/server/config/config.ts';
import { PARTS } from './parts.ts';

/**
 * Guides in src/docs/api are served as /docs/NAME, the others as /docs/guides/NAME, and the one about errors as
 * /problems, to whose sections the `type` of an error leads.
 * `http://localhost:3000` becomes this installation's address, when a page is sent (web/shared-pages.ts).
 * A comment such as `<!-- settings -->` becomes a part of parts.ts.
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

export interface Guide {
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
