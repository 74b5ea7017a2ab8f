/** API keys as a person makes them in the developer area. */
import { fieldValue, type Browsing, type Fields, type Page } from './browsing.ts';

export const KEY = /atl_(?:test|live)_[0-9A-Za-z]{36}/;

/** Fills in the form for a new key and sends it. */
export async function createKey(person: Browsing, fields: Fields = {}): Promise<Page> {
	const form = fieldValue(await person.get('/developer/keys?/create'), 'form');
	return person.post('/developer/keys?/create', {
		form,
		name: 'till at the station',
		role: 'app',
		lifetime: 'never',
		...fields
	});
}

export function keyIn(page: Page): string {
	const key = KEY.exec(page.text)?.[0];
	if (!key) throw new Error(`No key in: ${page.status} ${page.text}`);
	return key;
}
