import type { RequestEvent } from '@sveltejs/kit';
import { MAX_BODY_BYTES } from '#lib/server/http/requests.ts';

/** The entries of a form that was sent after the sign-in session had ended. */
export interface UnsentForm {
	fields: [name: string, value: string][];
	lacksFile: boolean;
	signInPath: string;
}

/** Fields of passwords, codes and keys, which no page sends back. */
const SECRETS = new Set(['password', 'current', 'wanted', 'code', 'uri', 'apiKey', 'newKey']);
const MAX_KEPT_FIELDS = 400;

/** Reads the body. Returns null without anything to keep, and for a form with a secret: sent again, it would lose it. */
export async function unsentForm(
	{ request }: Pick<RequestEvent, 'request'>,
	signInPath: string
): Promise<UnsentForm | null> {
	const length = request.headers.get('content-length');
	if (request.method !== 'POST' || length === null || Number(length) > MAX_BODY_BYTES) return null;
	const form = await request.formData().catch(() => new FormData());
	const entries = [...form];
	const hasSecret = entries.some(([name, value]) => SECRETS.has(name) && value !== '');
	const fields = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	if (hasSecret || fields.length === 0 || fields.length > MAX_KEPT_FIELDS) return null;
	const lacksFile = entries.some(([, value]) => typeof value !== 'string' && value.size > 0);
	return { fields, lacksFile, signInPath };
}
