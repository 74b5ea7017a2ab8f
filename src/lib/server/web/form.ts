import { error } from '@sveltejs/kit';
import { withoutHidden } from '#lib/domain/text.ts';
import * as m from '#lib/i18n/messages.js';
import { readBody } from '#lib/server/http/requests.ts';
import { Refused } from '#lib/server/platform/errors.ts';

export type Fields = (name: string) => string;

/** Returns the reason of a change on one line. */
export const noteOf = (field: Fields): string => withoutHidden(field('note'));

/** The time to parse a form grows with its parts and their heads, and the process waits. No form has more. */
const MAX_PARTS = 100;
const MAX_HEAD_BYTES = 2_048;
/** Of a multipart form (RFC 2046, section 5.1.1). */
const BOUNDARY =
	/^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'+.-]{1,70})\s*(?:;|$))/i;

/** @throws Error if the body is not a form, or has too many parts or a head that is too long */
async function parseForm(request: Request): Promise<FormData> {
	const bytes = Buffer.from(await readBody(request, Infinity));
	const type = request.headers.get('content-type') ?? '';
	if (!type.toLowerCase().startsWith('multipart/')) {
		return new Response(bytes, { headers: { 'content-type': type } }).formData();
	}
	const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
	const boundary = quoted ?? plain;
	if (boundary === undefined) throw new Error('The form names no boundary');
	limitParts(bytes, `--${boundary}`);
	// The parser reads the same boundary as we.
	const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
	return new Response(bytes, { headers }).formData();
}

function limitParts(bytes: Buffer, delimiter: string): void {
	let parts = 0;
	for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + delimiter.length)) {
		parts += 1;
		// One more delimiter ends the form.
		if (parts > MAX_PARTS + 1) throw new Error('The form has too many parts');
		const head = bytes.subarray(at, at + MAX_HEAD_BYTES);
		const isEnd = head.subarray(delimiter.length, delimiter.length + 2).toString('latin1') === '--';
		if (!isEnd && head.length === MAX_HEAD_BYTES && !head.includes('\r\n\r\n')) {
			throw new Error('A part of the form has a head that is too long');
		}
	}
}

/** Longer text fields are cut. */
const MAX_FIELD_CHARACTERS = 2_000;

/** Throws a 400 page if the body is not a form. Forms of buyers have `readForm`, which says that nothing was charged. */
export async function readFields(request: Request): Promise<{
	/** @param most characters that are kept */
	field: (name: string, most?: number) => string;
	all(name: string): string[];
	/** Returns null if no file was chosen. */
	file(name: string): Promise<Buffer | null>;
}> {
	let form: FormData;
	try {
		form = await parseForm(request);
	} catch (problem) {
		if (problem instanceof Refused && problem.reason === 'body_too_large')
			error(413, m.owner_file_too_large());
		error(400, m.owner_form_broken());
	}
	// PostgreSQL cannot store NUL.
	const text = (value: FormDataEntryValue | null, most = MAX_FIELD_CHARACTERS) =>
		typeof value === 'string' ? value.replaceAll('\0', '').slice(0, most) : '';
	return {
		field: (name, most) => text(form.get(name), most),
		all: (name) => form.getAll(name).map((value) => text(value)),
		async file(name) {
			const value = form.get(name);
			// Without a chosen file, browsers send an empty one without a name.
			if (!(value instanceof File) || (value.size === 0 && value.name === '')) return null;
			return Buffer.from(await value.arrayBuffer());
		}
	};
}
