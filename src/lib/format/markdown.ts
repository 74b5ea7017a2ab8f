/**
 * The little of CommonMark that the texts of the API's description use: paragraphs, `code`, **strong** and
 * [links](https://example.com). Anything else stays text.
 */

export type Inline =
	| { kind: 'text'; text: string }
	| { kind: 'code'; text: string }
	| { kind: 'strong'; text: string }
	| { kind: 'link'; text: string; href: string };

const MARKED = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:https:\/\/|\/|#)[^)\s]+)\)/g;

/** The parts of one paragraph, in order. */
export function inlines(text: string): Inline[] {
	const parts: Inline[] = [];
	let end = 0;
	const plain = (until: number) => {
		if (until > end) parts.push({ kind: 'text', text: text.slice(end, until) });
	};
	for (const match of text.matchAll(MARKED)) {
		const [whole, code, strong, label, href] = match;
		plain(match.index);
		end = match.index + whole.length;
		if (code !== undefined) parts.push({ kind: 'code', text: code });
		else if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
		else if (label !== undefined && href !== undefined) parts.push({ kind: 'link', text: label, href });
	}
	plain(text.length);
	return parts;
}

/** Paragraphs, parted by empty lines. */
export const paragraphs = (text: string): Inline[][] =>
	text
		.split(/\n{2,}/)
		.filter((paragraph) => paragraph.trim() !== '')
		.map(inlines);
