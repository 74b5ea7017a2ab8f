import { slug } from '#lib/format/text.ts';
import type { Config } from '#lib/server/config/config.ts';
import { ROUTES } from './api.ts';
import { readGuides } from './guides.ts';

interface Hit {
	href: string;
	title: string;
	/** The page that contains it. */
	page: string;
	/** Plain text around the first word. */
	excerpt: string;
}

export const MAX_QUERY_LENGTH = 100;
const MAX_HITS = 30;
const MAX_WORDS = 8;
const EXCERPT_LENGTH = 160;

/**
 * Finds the sections of guides and the endpoints that contain every word, the best first: a word in the title or the
 * name of the page counts more than one in the text, and the API counts more than running Airtill.
 */
export function searchDocs(query: string, config: Config): Hit[] {
	const words = (
		query
			.slice(0, MAX_QUERY_LENGTH)
			.toLowerCase()
			.match(/[\p{L}\p{N}_]+/gu) ?? []
	)
		.slice(0, MAX_WORDS)
		.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
	if (words.length === 0) return [];
	return sectionsOf(config)
		.filter(({ words: text }) => words.every((word) => text.includes(word)))
		.map((section) => ({ section, score: scoreOf(section, words) }))
		.sort((one, other) => other.score - one.score)
		.slice(0, MAX_HITS)
		.map(({ section }) => ({ ...section.hit, excerpt: excerptOf(section, words) }));
}

interface Section {
	hit: Omit<Hit, 'excerpt'>;
	text: string;
	/** In lower case. All of it, and its parts. */
	words: string;
	parts: { title: string; page: string; start: string; text: string };
	kind: keyof typeof WEIGHTS;
}

const WEIGHTS = { topic: 3, endpoint: 2, problem: 2, guide: 0 };
const TITLE_WEIGHT = 4;
/** Titles of problems are codes, which readers enter as a whole. */
const PROBLEM_TITLE_WEIGHT = 1;
const CODE_WEIGHT = 8;
const PAGE_WEIGHT = 1;
const START_WEIGHT = 2;
/** The section of a problem begins with its status. */
const STATUS_WEIGHT = 4;
const START_LENGTH = 120;

function scoreOf({ parts: { title, page, start }, kind }: Section, words: readonly string[]): number {
	const titleWeight = kind === 'problem' ? PROBLEM_TITLE_WEIGHT : TITLE_WEIGHT;
	const scores = words.map(
		(word) =>
			(title.includes(word) ? titleWeight : 0) +
			(title === word ? CODE_WEIGHT : 0) +
			(page.includes(word) ? PAGE_WEIGHT : 0) +
			(start.includes(word) ? START_WEIGHT : 0) +
			(kind === 'problem' && start.startsWith(word) ? STATUS_WEIGHT : 0)
	);
	return scores.reduce((sum, score) => sum + score, WEIGHTS[kind]);
}

let kept: { config: Config; sections: readonly Section[] } | null = null;

function sectionsOf(config: Config): readonly Section[] {
	if (kept?.config !== config) kept = { config, sections: [...guideSections(config), ...endpointSections()] };
	return kept.sections;
}

function sectionOf(hit: Section['hit'], text: string, kind: Section['kind']): Section {
	const [title, page, lower] = [hit.title.toLowerCase(), hit.page.toLowerCase(), text.toLowerCase()];
	const parts = { title, page, start: lower.slice(0, START_LENGTH), text: lower };
	return { ...{ hit, text, kind, parts }, words: `${page} ${title} ${lower}` };
}

const guideSections = (config: Config): Section[] =>
	readGuides(config).flatMap(({ href, title: page, text, isTopic }) =>
		text.split(/\n(?=##+ )/).map((section, index) => {
			const [heading = '', ...lines] = section.split('\n');
			const title = plain(heading.replace(/^#+ /, ''));
			const isProblem = href === '/problems' && heading.startsWith('### ');
			const kind = isProblem ? 'problem' : isTopic ? 'topic' : 'guide';
			const anchored = index === 0 ? href : `${href}#${slug(title)}`;
			return sectionOf({ href: anchored, title, page }, plain(lines.join(' ')), kind);
		})
	);

/** Where the API page opens an endpoint. */
const endpointHref = ({ tags, operationId }: { tags: readonly string[]; operationId: string }) =>
	`/docs/api#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`;

const endpointSections = (): Section[] =>
	ROUTES.map((route) =>
		sectionOf(
			{
				href: endpointHref(route),
				title: route.summary,
				page: `${route.method.toUpperCase()} /v1${route.path}`
			},
			plain(route.description),
			'endpoint'
		)
	);

/** Removes the marks of Markdown. */
const plain = (text: string) =>
	text
		.replace(/\]\([^)]*\)/g, '')
		.replace(/[`*[\]|]|<!--.*?-->|-{3,}/g, '')
		.replace(/\s+/g, ' ')
		.trim();

function excerptOf({ text, parts }: Section, words: readonly string[]): string {
	const at = Math.max(0, parts.text.indexOf(words[0] ?? ''));
	const start = text.lastIndexOf(' ', Math.max(0, at - EXCERPT_LENGTH / 2)) + 1;
	if (text.length - start <= EXCERPT_LENGTH) return `${start > 0 ? '… ' : ''}${text.slice(start)}`;
	const end = text.lastIndexOf(' ', start + EXCERPT_LENGTH);
	return `${start > 0 ? '… ' : ''}${text.slice(start, end)} …`;
}
