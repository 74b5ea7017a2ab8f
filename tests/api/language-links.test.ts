/** The switch of languages, over HTTP: a buyer who does not read a page opens it in another language. */
import { expect, it } from 'vitest';
import { LOCALES } from '../../src/lib/language/locales.ts';
import { numberEnding } from '../support/api.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld({ database: 'sqlite' });

const get = (path: string) =>
	fetch(world().server.url + path, { redirect: 'manual', headers: { accept: 'text/html' } });

/** The links of the switch, as they stand in the page. */
async function linksOf(path: string): Promise<string[]> {
	const answer = await get(path);
	expect([path, answer.status]).toEqual([path, 200]);
	const list = /<details class="languages.*?<\/details>/s.exec(await answer.text())?.[0] ?? '';
	return [...list.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
}

async function purchasePage(): Promise<string> {
	const bought = await fetch(`${world().server.url}/r/3`, {
		method: 'POST',
		redirect: 'manual',
		headers: { origin: world().server.url, accept: 'text/html' },
		body: new URLSearchParams({
			time: '1h 500',
			network: 'mtn_momo',
			phone: numberEnding('456'),
			purchase: 'language-links-token-123'
		})
	});
	expect(bought.status).toBe(303);
	return new URL(bought.headers.get('location') ?? '', world().server.url).pathname;
}

it('leads from each page to the same page in every language', async () => {
	const purchase = await purchasePage();
	const pages = ['/', '/r/3', '/r/3/poster', '/kiosk/3/setup', '/resume', purchase, `${purchase}/receipt`];
	for (const page of pages) {
		const links = await linksOf(page);
		// Without what stands behind "?": the choices of a form stay as they are.
		const paths = links.map((href) => href.split('?')[0]);
		expect([page, paths]).toEqual([page, LOCALES.map((locale) => `/${locale}${page === '/' ? '' : page}`)]);
	}
	for (const link of await linksOf(purchase)) {
		const answer = await get(link);
		expect([link, answer.status]).toEqual([link, 200]);
		expect(await answer.text()).toContain(`<html lang="${link.slice(1, 3)}"`);
	}
});
