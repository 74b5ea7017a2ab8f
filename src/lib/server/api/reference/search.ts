import { endpointHref, endpointsOf, slug } from '#lib/developer/openapi.ts';
import type { Config } from '#lib/server/config/config.ts';
import { documentFor } from '../document/document.ts';
import { guideLinks, readGuide } from './guides.ts';

interface Hit {
	href: string;
	title: string;
	/** The page that contains it. */
	page: string;
	/** Plain text around the first word. */
	excerpt: string;
}

const MAX_HITS = 30;
const MAX_WORDS = 8;
const EXCERPT_LENGTH = 160;

/** Finds the sections of guides and the endpoints that contain every word; those with a word in the title first. */
export function searchDocs(query: string, origin: string, config: Config): Hit[] {
	const words =
		query
			.toLowerCase()
			.match(/[\p{L}\p{N}_]+/gu)
			?.slice(0, MAX_WORDS) ?? [];
	if (words.length === 0) return [];
	const contains = (text: string) => words.every((word) => text.toLowerCase().includes(word));
	const inTitle = ({ title }: Hit) => words.some((word) => title.toLowerCase().includes(word));
	const found = [...guideSections(origin, config), ...endpointTexts(origin)]
		.filter(({ hit, text }) => contains(`${hit.page} ${hit.title} ${text}`))
		.map(({ hit, text }) => ({ ...hit, excerpt: excerptOf(text, words) }));
	return [...found.filter(inTitle), ...found.filter((hit) => !inTitle(hit))].slice(0, MAX_HITS);
}

interface Section {
	hit: Omit<Hit, 'excerpt'>;
	text: string;
}

function guideSections(origin: string, config: Config): Section[] {
	const { guides, topics } = guideLinks();
	return [...guides, ...topics].flatMap(({ href, title: page }) => {
		const text = readGuide(href.replace('/docs/', ''), origin, config)?.text ?? '';
		return text.split(/\n(?=##+ )/).map((section, index) => {
			const [heading = '', ...lines] = section.split('\n');
			const title = plain(heading.replace(/^#+ /, ''));
			return {
				hit: { href: index === 0 ? href : `${href}#${slug(title)}`, title, page },
				text: plain(lines.join(' '))
			};
		});
	});
}

const endpointTexts = (origin: string): Section[] =>
	endpointsOf(documentFor(origin)).map((endpoint) => ({
		hit: {
			href: endpointHref(endpoint),
			title: endpoint.operation.summary,
			page: `${endpoint.method} ${endpoint.path}`
		},
		text: plain(endpoint.operation.description)
	}));

/** Removes the marks of Markdown. */
const plain = (text: string) =>
	text
		.replace(/\]\([^)]*\)/g, '')
		.replace(/[`*[\]|]|<!--.*?-->|-{3,}/g, '')
		.replace(/\s+/g, ' ')
		.trim();

function excerptOf(text: string, words: readonly string[]): string {
	const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? ''));
	const start = text.lastIndexOf(' ', Math.max(0, at - EXCERPT_LENGTH / 2)) + 1;
	if (text.length - start <= EXCERPT_LENGTH) return `${start > 0 ? '… ' : ''}${text.slice(start)}`;
	const end = text.lastIndexOf(' ', start + EXCERPT_LENGTH);
	return `${start > 0 ? '… ' : ''}${text.slice(start, end)} …`;
}
