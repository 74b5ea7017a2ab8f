import {
	type Hash,
	type KeyObject,
	createHash,
	createPrivateKey,
	createPublicKey,
	sign,
	verify
} from 'node:crypto';
import { Transform } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { type Secrets, sha256Bytes } from '../platform/secrets.ts';

/**
 * Signed statements: the end of the file signs all bytes before it, so that a tax office or a bank can check that nobody
 * has changed the file, without an installation and without asking one.
 *
 *   Signature,Ed25519,KEY,SIGNATURE
 *
 * It is the last line of a file; the code of a printed page is one line that ends with it.
 * KEY is the start of the SHA-256 of the public key (SPKI, DER), in hex. SIGNATURE is Ed25519 (RFC 8032), in Base64, over
 * the text `airtill statement ` and the SHA-512 of the bytes before, in hex. The key is derived from
 * AIRTILL_SECRET. After a change of the secret the earlier key stays published for as long as the secret is accepted; keep
 * a copy of it with the statements that it signed.
 */
const SIGNATURE = /(^|\n|,)Signature,Ed25519,([0-9a-f]{16}),([A-Za-z0-9+/]{86}==)(?:\r?\n)?$/;

/** PKCS #8 of an Ed25519 key (RFC 8410), before its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const privateKeys = (secrets: Secrets): KeyObject[] =>
	secrets
		.deriveAll('statement signature', 32)
		.map((seed) => createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' }));

const nameKey = (key: KeyObject): string =>
	sha256Bytes(key.export({ format: 'der', type: 'spki' })).slice(0, 16);

const textOf = (digest: string): Buffer => Buffer.from(`airtill statement ${digest}`);

/** Formats the public keys that statements of this installation are signed with, the current one first, as PEM. */
export const formatStatementKeys = (secrets: Secrets): string =>
	privateKeys(secrets)
		.map((key) => createPublicKey(key).export({ format: 'pem', type: 'spki' }))
		.join('');

/**
 * Passes a file through, and adds a line that says what it is and the line that signs it.
 * @param subject whose statement of which period, and when it was made
 */
export function createSigner(secrets: Secrets, subject: readonly string[]): Transform {
	const hash = createHash('sha512');
	return new Transform({
		transform(chunk: Buffer, _, done) {
			hash.update(chunk);
			done(null, chunk);
		},
		flush(done) {
			const line = stringify([[...subject]], { quoted: true, record_delimiter: 'windows' });
			done(null, `${line}${formatSignature(secrets, hash.update(line))}\r\n`);
		}
	});
}

/** Formats one signed line for the code of a printed page: whose statement, and its sums. */
export function signLine(secrets: Secrets, cells: readonly string[]): string {
	const line = `${stringify([[...cells]], { quoted: true, eof: false })},`;
	return line + formatSignature(secrets, createHash('sha512').update(line));
}

function formatSignature(secrets: Secrets, hash: Hash): string {
	const [key] = privateKeys(secrets);
	if (!key) throw new Error('There is no key for statements');
	const signature = sign(null, textOf(hash.digest('hex')), key).toString('base64');
	return `Signature,Ed25519,${nameKey(createPublicKey(key))},${signature}`;
}

/** Returns the signed line that says whose statement it is; of a printed page with its sums. */
export const readSubject = (file: Buffer): string =>
	/^"Statement",.*?(?=\r?$|,Signature)/m.exec(file.toString('utf8'))?.[0] ?? '';

/** What a check of a statement found. `unknown-key`: another installation signed it, or this one before a new secret. */
export type Verified = 'valid' | 'changed' | 'unsigned' | 'unknown-key';

/**
 * Checks a file against public keys.
 * @param keys PEM, as `formatStatementKeys` gives them
 * @throws Error if it holds no key
 */
export function verifyStatement(file: Buffer, keys: string): Verified {
	const known = (keys.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? []).map((pem) =>
		createPublicKey(pem)
	);
	if (known.length === 0) throw new Error('There is no public key (PEM)');
	// The end is ASCII; latin1 keeps each byte of the rest at its place.
	const end = SIGNATURE.exec(file.toString('latin1'));
	if (!end) return 'unsigned';
	const [, separator = '', name, signature = ''] = end;
	const key = known.find((one) => nameKey(one) === name);
	if (!key) return 'unknown-key';
	const start = end.index + separator.length;
	const digest = createHash('sha512').update(file.subarray(0, start)).digest('hex');
	return verify(null, textOf(digest), key, Buffer.from(signature, 'base64')) ? 'valid' : 'changed';
}
