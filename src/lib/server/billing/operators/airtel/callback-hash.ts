import { createHmac } from 'node:crypto';
import { equalSecrets } from '#lib/server/platform/secrets.ts';

/**
 * Checks the `hash` member of an authenticated callback: Base64(HMAC-SHA256(payload, private key of the portal)).
 * Sources define the payload differently (mobile-money.md 3.5), so each definition is tried, or only the configured one.
 */
export const HASH_VARIANTS = ['transaction-bytes', 'transaction-json', 'body'] as const;
export type HashVariant = (typeof HASH_VARIANTS)[number];

/**
 * @param body as received
 * @returns the definition that matched, or null
 */
export function matchingVariant(
	body: string,
	key: string,
	variants: readonly HashVariant[] = HASH_VARIANTS
): HashVariant | null {
	const members = membersOf(body);
	if (!members) return null;
	const parsed = JSON.parse(body) as Record<string, unknown>;
	const { hash } = parsed;
	if (typeof hash !== 'string') return null;
	const payloads = payloadsOf(body, members, parsed);
	const isSigned = (payload: string) =>
		equalSecrets(createHmac('sha256', key).update(payload).digest('base64'), hash);
	return variants.find((variant) => payloads[variant].some(isSigned)) ?? null;
}

function payloadsOf(
	body: string,
	members: Map<string, Span>,
	parsed: Record<string, unknown>
): Record<HashVariant, readonly string[]> {
	const isThere = members.has('transaction');
	const others = { ...parsed };
	delete others['hash'];
	try {
		return {
			'transaction-bytes': isThere ? [sliceOf(body, members.get('transaction'))] : [],
			'transaction-json': isThere ? [JSON.stringify(parsed['transaction'])] : [],
			body: [without(body, members), JSON.stringify(others)]
		};
	} catch {
		// Nested too deep to serialise: not a callback of Airtel.
		return { 'transaction-bytes': [], 'transaction-json': [], body: [] };
	}
}

/** Offsets of a member's name, of its value and of its end. */
interface Span {
	from: number;
	value: number;
	to: number;
}

const sliceOf = (body: string, span: Span | undefined) => (span ? body.slice(span.value, span.to) : '');

/** Removes the hash and its comma from the body; all other bytes stay. */
function without(body: string, members: Map<string, Span>): string {
	const { from, to } = members.get('hash') ?? { from: 0, to: 0 };
	const before = body.slice(0, from);
	const after = body.slice(to);
	const comma = /,\s*$/.exec(before);
	return comma ? before.slice(0, comma.index) + after : before + after.replace(/^\s*,\s*/, '');
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;

/**
 * Finds the members of an object in its text.
 * @returns null if it is no JSON object, or has a duplicate name: the signed bytes and the parsed value could differ then
 */
function membersOf(text: string): Map<string, Span> | null {
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
	} catch {
		return null;
	}
	const members = new Map<string, Span>();
	let depth = 0;
	let name: { text: string; at: number } | null = null;
	let start: number | null = null;
	for (const { 0: token, index } of text.matchAll(TOKEN)) {
		const end = index + token.length;
		const closes = token === '}' || token === ']';
		if (depth === 1 && token === ':') continue;
		if (depth === 1 && (token === ',' || closes)) {
			name = null;
			start = null;
		} else if (depth === 1 && name === null) {
			name = { text: JSON.parse(token) as string, at: index };
			if (members.has(name.text)) return null;
			continue;
		} else if (depth === 1) start = index;
		if (token === '{' || token === '[') depth += 1;
		if (closes) depth -= 1;
		if (depth === 1 && name && start !== null) {
			members.set(name.text, { from: name.at, value: start, to: end });
		}
	}
	return members;
}
