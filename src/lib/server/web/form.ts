import { error } from '@sveltejs/kit';

/** The text fields of a form that was sent. Each is cut to `MAX_FIELD`: what is longer is no honest entry. */
export type Fields = (name: string) => string;

const MAX_FIELD = 2_000;

/** @throws a page that says so when the body is no form */
export async function readFields(request: Request): Promise<{
	field: Fields;
	all(name: string): string[];
	/** A file that was chosen; null when none was. */
	file(name: string): Promise<Buffer | null>;
}> {
	let form: FormData;
	try {
		form = await request.formData();
	} catch {
		error(400, 'The form did not arrive whole. Go back and send it again.');
	}
	const text = (value: FormDataEntryValue | null) =>
		typeof value === 'string' ? value.slice(0, MAX_FIELD) : '';
	return {
		field: (name) => text(form.get(name)),
		all: (name) => form.getAll(name).map(text),
		async file(name) {
			const value = form.get(name);
			// Browsers send an empty file without a name where none was chosen.
			if (!(value instanceof File) || (value.size === 0 && value.name === '')) return null;
			return Buffer.from(await value.arrayBuffer());
		}
	};
}
