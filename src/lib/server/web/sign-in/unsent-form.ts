import type { RequestEvent } from '@sveltejs/kit';

/** What a person entered in a form that came without a sign-in session. */
export interface UnsentForm {
	fields: [name: string, value: string][];
	lacksFile: boolean;
	signInPath: string;
}

/** Fields of passwords, codes and keys, which no page sends back. */
const SECRETS = new Set(['password', 'current', 'wanted', 'code', 'uri', 'apiKey', 'newKey']);
/** Nobody is signed in, and parsing a large form stalls the process. */
const MAX_KEPT_BYTES = 16 * 1024;
const MAX_KEPT_FIELDS = 400;

/** Reads the body. Returns null without anything to keep, and for a form with a secret: sent again, it would lose it. */
export async function unsentForm(
	{ request }: Pick<RequestEvent, 'request'>,
	signInPath: string
): Promise<UnsentForm | null> {
	const length = request.headers.get('content-length');
	if (request.method !== 'POST' || length === null || Number(length) > MAX_KEPT_BYTES) return null;
	const form = await request.formData().catch(() => new FormData());
	const entries = [...form];
	const hasSecret = entries.some(([name, value]) => SECRETS.has(name) && value !== '');
	const fields = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	if (hasSecret || fields.length === 0 || fields.length > MAX_KEPT_FIELDS) return null;
	const lacksFile = entries.some(([, value]) => typeof value !== 'string' && value.size > 0);
	return { fields, lacksFile, signInPath };
}
