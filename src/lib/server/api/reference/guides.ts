import type { Config } from '#lib/server/config/config.ts';
import { documentFor } from '../document/document.ts';
import { PARTS } from './parts.ts';

/**
 * Guides in src/docs/api are served as /docs/NAME, the others as /docs/guides/NAME.
 * `http://localhost:3000` becomes this installation's address.
 * A comment such as `<!-- settings -->` becomes a part of parts.ts.
 * The router of the quickstart becomes one of this installation (example-router.ts).
 */

const FILES: Record<string, string> = import.meta.glob('/src/docs/**/*.md', {
	query: '?raw',
	import: 'default',
	eager: true
});

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
const TOPICS = ['quickstart', 'webhooks', 'errors', 'states', 'limits', 'versioning'];

const EXAMPLE_ORIGIN = 'http://localhost:3000';

interface Guide {
	title: string;
	/** The first paragraph. */
	description: string;
	/** Markdown. */
	text: string;
}

function read(path: string): Guide | null {
	const text = FILES[`/src/docs/${path}.md`];
	if (text === undefined) return null;
	const [heading = '', description = ''] = text.split('\n\n');
	return { title: heading.replace(/^# /, ''), description: description.replaceAll('\n', ' '), text };
}

function linkTo(href: string, path: string) {
	const guide = read(path);
	if (!guide) throw new Error(`${path} is missing`);
	return { href, title: guide.title, description: guide.description };
}

export const guideLinks = () => ({
	guides: GUIDES.map((name) => linkTo(`/docs/guides/${name}`, name)),
	topics: TOPICS.map((name) => linkTo(`/docs/${name}`, `api/${name}`))
});

/** Rewrites "operators.md#callbacks" as "/docs/guides/operators#callbacks". */
const withServedLinks = (text: string) =>
	text.replace(/\]\((?:[\w-]+\/|\.\.\/)*([\w-]+)\.md(#[\w-]+)?\)/g, (_link, name: string, anchor = '') =>
		TOPICS.includes(name) ? `](/docs/${name}${anchor})` : `](/docs/guides/${name}${anchor})`
	);

/** Returns the guide with the values of this installation. @param path "guides/operators" or "webhooks" */
export function readGuide(path: string, origin: string, config: Config): Guide | null {
	const [, name] = /^guides\/([\w-]+)$/.exec(path) ?? [];
	const guide = read(name ?? `api/${path}`);
	if (!guide) return null;
	const document = documentFor(origin);
	const text = withServedLinks(guide.text)
		.replaceAll(EXAMPLE_ORIGIN, origin)
		.replace(/<!-- ([\w-]+) -->/g, (comment, name: string) => PARTS[name]?.({ config, document }) ?? comment);
	return { ...guide, text };
}
