import { judge } from '../support/lighthouse.ts';
import { expect, test } from './support/reach.ts';
import { ROUTER } from './support/test.ts';

/** What anybody may open and a search engine may list. */
const PUBLIC = ['/', `/r/${ROUTER}`, '/docs', '/docs/endpoints/sessions'];

test('Lighthouse gives every public page 100 for accessibility, best practices and search engines', async ({
	scene
}) => {
	test.setTimeout(240_000);
	for (const [url, { scores, blamed }] of await judge(PUBLIC.map((path) => scene.url + path))) {
		expect.soft(blamed, url).toEqual([]);
		expect.soft(scores, url).toEqual({ accessibility: 100, 'best-practices': 100, seo: 100 });
	}
});
