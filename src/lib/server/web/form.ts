import { error } from '@sveltejs/kit';
import { withoutHidden } from '#lib/domain/plain-text.ts';
import * as m from '#lib/i18n/messages.js';

export type Fields = (name: string) => string;

/** Returns the reason of a change on one line. */
export const noteOf = (field: Fields): string => withoutHidden(field('note'));

/** The time to parse a form grows with its parts, and the process waits. No form has more. */
const MAX_PARTS = 100;
const PART = /content-disposition/gi;

/** @throws if the body is not a form */
async function parseForm(request: Request): Promise<FormData> {
	const bytes = Buffer.from(await request.arrayBuffer());
	const parts = bytes.toString('latin1').match(PART)?.length ?? 0;
	if (parts > MAX_PARTS) throw new Error('The form has too many parts');
	return new Response(bytes, { headers: request.headers }).formData();
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
	} catch {
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
