import { judge } from '../support/lighthouse.ts';
import { expect, test } from './support/reach.ts';
import { ROUTER } from './support/test.ts';

/** What anybody may open and a search engine may list. */
const LISTED = ['/', `/r/${ROUTER}`, '/resume', '/docs', '/docs/endpoints/sessions'];
/** What anybody may open, but says that it is not for search engines. */
const UNLISTED = [`/r/${ROUTER}/poster`, `/kiosk/${ROUTER}/setup`];

test('Lighthouse gives every public page 100 for accessibility, best practices and search engines', async ({
	scene
}) => {
	test.setTimeout(240_000);
	const judged = await judge([...LISTED, ...UNLISTED, scene.splash].map((path) => scene.url + path));
	for (const [url, { scores, blamed }] of judged) {
		const listed = LISTED.includes(url.replace(scene.url, ''));
		expect
			.soft(
				blamed.filter((blame) => listed || !/blocked from indexing|meta description/.test(blame)),
				url
			)
			.toEqual([]);
		const { seo, ...rest } = scores;
		expect.soft(rest, url).toEqual({ accessibility: 100, 'best-practices': 100 });
		if (listed) expect.soft(seo, url).toBe(100);
	}
});
