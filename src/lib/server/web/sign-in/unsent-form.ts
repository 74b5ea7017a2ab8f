import type { RequestEvent } from '@sveltejs/kit';

/** What a person entered in a form that came without a sign-in session. */
export interface UnsentForm {
	fields: [name: string, value: string][];
	/** Secrets or files are missing. */
	isPartial: boolean;
	signInPath: string;
}

/** Passwords, codes and keys, which no page sends back. */
const NEVER_KEPT = new Set(['password', 'current', 'wanted', 'code', 'uri', 'apiKey', 'newKey']);
/** Nobody is signed in, and parsing a large form stalls the process. */
const MAX_KEPT_BYTES = 16 * 1024;

/** Reads the body. Returns null without anything to keep. */
export async function unsentForm(
	{ request }: Pick<RequestEvent, 'request'>,
	signInPath: string
): Promise<UnsentForm | null> {
	const length = request.headers.get('content-length');
	if (request.method !== 'POST' || length === null || Number(length) > MAX_KEPT_BYTES) return null;
	const form = await request.formData().catch(() => new FormData());
	const entries = [...form].filter(([, value]) => typeof value === 'string' || value.size > 0);
	const fields = entries.filter(
		(entry): entry is [string, string] => typeof entry[1] === 'string' && !NEVER_KEPT.has(entry[0])
	);
	return fields.length === 0 ? null : { fields, isPartial: fields.length < entries.length, signInPath };
}
