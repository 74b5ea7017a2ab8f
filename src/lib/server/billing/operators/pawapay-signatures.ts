import { type KeyObject, createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { type InnerList, parseDictionary, serializeInnerList, serializeItem } from 'structured-headers';
import { z } from 'zod';

/**
 * pawaPay's HTTP message signatures (RFC 9421) with ECDSA P-256 over a Content-Digest (RFC 9530). Source:
 * docs.pawapay.io/v2/docs/signatures. pawaPay encodes signatures as DER, the RFC as two
 * concatenated numbers: both are accepted.
 */
interface SigningKey {
	id: string;
	key: KeyObject;
}

interface Message {
	method: string;
	authority: string;
	/** With the query. */
	path: string;
	/** Names in lower case. */
	headers: Readonly<Record<string, string>>;
}

interface SignedRequest extends Pick<Message, 'method' | 'headers'> {
	body: Uint8Array;
	/** Hosts and paths that the sender may have used: a proxy may have changed them. */
	targets: readonly Pick<Message, 'authority' | 'path'>[];
	/** In ms since the epoch. */
	now: number;
}

const ALGORITHM = 'ecdsa-p256-sha256';
const LABEL = 'sig-pp';
/** From pawaPay's example. */
const SIGNED_BY_US = [
	'@method',
	'@authority',
	'@path',
	'signature-date',
	'content-digest',
	'content-type',
	'content-length'
];
/** A signature must cover these to authenticate the request. */
const REQUIRED = ['content-digest', '@method', '@path'];
const OUR_LIFE_SECONDS = 300;
/** Tolerance for clock differences. */
const SKEW_SECONDS = 60;
const MAX_SIGNATURES = 4;

const isP256 = (key: KeyObject) =>
	key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** Parses a private key in PEM; line breaks may be written as \n. */
export const privateKey = z.string().transform((text, context): KeyObject => {
	try {
		const key = createPrivateKey(text.replaceAll('\\n', '\n'));
		if (isP256(key)) return key;
	} catch {
		// The library's message may contain a part of the key.
	}
	context.addIssue({ code: 'custom', message: 'Use an ECDSA P-256 private key as PEM.' });
	return z.NEVER;
});

/** Parses PEM, or base64 without its frame. Returns null if it is not a P-256 key. */
export function publicKey(text: string): KeyObject | null {
	try {
		const isPem = text.includes('-----BEGIN');
		const der = () => ({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }) as const;
		const key = createPublicKey(isPem ? text : der());
		return isP256(key) ? key : null;
	} catch {
		return null;
	}
}

export function signedHeaders(request: {
	key: SigningKey;
	url: string;
	body: string;
	now: number;
}): Record<string, string> {
	const { host, pathname } = new URL(request.url);
	const headers: Record<string, string> = {
		'content-type': 'application/json',
		'content-length': String(Buffer.byteLength(request.body)),
		'content-digest': `sha-512=:${digest('sha512', request.body)}:`,
		'signature-date': new Date(request.now).toISOString()
	};
	const created = Math.floor(request.now / 1000);
	const parameters = new Map<string, string | number>([
		['alg', ALGORITHM],
		['keyid', request.key.id],
		['created', created],
		['expires', created + OUR_LIFE_SECONDS]
	]);
	const covered: InnerList = [SIGNED_BY_US.map((name) => [name, new Map()]), parameters];
	const base = signatureBase(covered, { method: 'POST', authority: host, path: pathname, headers });
	const signature = sign('sha256', Buffer.from(base ?? ''), request.key.key).toString('base64');
	return {
		...headers,
		'signature-input': `${LABEL}=${serializeInnerList(covered)}`,
		signature: `${LABEL}=:${signature}:`
	};
}

/** Verifies body digest, signature, key and expiry; the signature must cover REQUIRED. Never throws. */
export async function isSigned(request: SignedRequest, keyById: (id: string) => Promise<KeyObject | null>) {
	try {
		if (!bodyMatches(request.headers['content-digest'] ?? '', request.body)) return false;
		const inputs = [...parseDictionary(request.headers['signature-input'] ?? '')].slice(0, MAX_SIGNATURES);
		const signatures = parseDictionary(request.headers['signature'] ?? '');
		for (const [label, input] of inputs) {
			const signature = signatures.get(label)?.[0];
			if (!isInnerList(input) || !(signature instanceof ArrayBuffer)) continue;
			if (await holds(request, input, Buffer.from(signature), keyById)) return true;
		}
		return false;
	} catch {
		// Not valid structured fields, so not from pawaPay.
		return false;
	}
}

async function holds(
	request: SignedRequest,
	covered: InnerList,
	signature: Buffer,
	keyById: (id: string) => Promise<KeyObject | null>
): Promise<boolean> {
	const [components, parameters] = covered;
	const names = components.map(([name]) => name);
	if (components.some(([, own]) => own.size > 0) || new Set(names).size !== names.length) return false;
	if (!REQUIRED.every((name) => names.includes(name))) return false;

	const now = request.now / 1000;
	const expires = parameters.get('expires');
	const created = parameters.get('created');
	if (typeof expires !== 'number' || expires + SKEW_SECONDS < now) return false;
	if (created !== undefined && (typeof created !== 'number' || created - SKEW_SECONDS > now)) return false;
	if ((parameters.get('alg') ?? ALGORITHM) !== ALGORITHM) return false;

	const id = parameters.get('keyid');
	const key = typeof id === 'string' ? await keyById(id) : null;
	if (!key) return false;
	return request.targets.some((target) => {
		const base = signatureBase(covered, { ...request, ...target });
		if (base === null) return false;
		const data = Buffer.from(base);
		return (['der', 'ieee-p1363'] as const).some((dsaEncoding) =>
			verify('sha256', data, { key, dsaEncoding }, signature)
		);
	});
}

/** RFC 9421 section 2.5. @returns null if the request lacks a component */
function signatureBase(covered: InnerList, message: Message): string | null {
	const lines: string[] = [];
	for (const component of covered[0]) {
		const value = typeof component[0] === 'string' ? readComponent(component[0], message) : null;
		if (value === null) return null;
		lines.push(`${serializeItem(component)}: ${value}`);
	}
	return [...lines, `"@signature-params": ${serializeInnerList(covered)}`].join('\n');
}

/** The value of a header, or of what section 2.2 of the RFC derives, as far as pawaPay uses it. */
function readComponent(name: string, { method, authority, path, headers }: Message): string | null {
	const at = path.indexOf('?');
	switch (name) {
		case '@method':
			return method;
		case '@authority':
			return authority.toLowerCase();
		case '@path':
			return at < 0 ? path : path.slice(0, at);
		case '@query':
			return at < 0 ? '?' : path.slice(at);
		default:
			return name.startsWith('@') ? null : (headers[name]?.trim() ?? null);
	}
}

const digest = (algorithm: 'sha256' | 'sha512', body: string | Uint8Array) =>
	createHash(algorithm).update(body).digest('base64');

/** All known digests must match, and at least one must be present (RFC 9530). */
function bodyMatches(header: string, body: Uint8Array): boolean {
	const known = [...parseDictionary(header)].flatMap(([name, [value]]) => {
		const algorithm = { 'sha-256': 'sha256', 'sha-512': 'sha512' }[name] as 'sha256' | 'sha512' | undefined;
		return algorithm ? [{ algorithm, value }] : [];
	});
	return (
		known.length > 0 &&
		known.every(
			({ algorithm, value }) =>
				value instanceof ArrayBuffer && Buffer.from(value).toString('base64') === digest(algorithm, body)
		)
	);
}

const isInnerList = (member: unknown): member is InnerList =>
	Array.isArray(member) && Array.isArray(member[0]);
