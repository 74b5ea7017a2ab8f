/** The header of every page: nothing in it touches or covers its neighbour, and the languages are a list over the page. */
import type { Page } from '@playwright/test';
import { openSql } from '../../support/database/sql.ts';
import { expect, test } from '../support/test.ts';

const ROUTER = 10;
const LONG_NAME = 'Kisementi Corner Restaurant and Guesthou';
const ONE_WORD = 'Nakivubo'.repeat(5);
const WIDTHS = [320, 360, 768, 1280];
const LEAST_GAP_PX = 8;

/** Pairs of parts of the header that are less than a gap away from each other in both directions, and parts outside. */
const crowded = (page: Page) =>
	page.evaluate((gap) => {
		const boxes = [...document.querySelectorAll('header > *')].map((element) => ({
			name: element.className,
			box: element.getBoundingClientRect()
		}));
		const outside = boxes.filter(({ box }) => box.left < 0 || box.right > innerWidth);
		const apart = (a: DOMRect, b: DOMRect) =>
			a.right + gap <= b.left || b.right + gap <= a.left || a.bottom <= b.top || b.bottom <= a.top;
		const pairs = boxes.flatMap((one, index) =>
			boxes
				.slice(index + 1)
				.flatMap((other) => (apart(one.box, other.box) ? [] : [`${one.name} ${other.name}`]))
		);
		return { parts: boxes.length, outside: outside.map(({ name }) => name), pairs };
	}, LEAST_GAP_PX);

test('brand, test mark and languages never touch, with long names of owners and from right to left', async ({
	page,
	portal
}) => {
	expect(LONG_NAME).toHaveLength(40);
	const sql = await openSql(portal.service.databaseUrl);
	await sql.run(
		`insert into brands (account_id, updated_at, updated_by)
			select owner_account_id, 0, owner_account_id from routers where id = ? on conflict do nothing`,
		ROUTER
	);
	const setName = (name: string | null) => sql.run('update brands set name = ?', name);
	for (const name of [LONG_NAME, ONE_WORD]) {
		await setName(name);
		// A portal of a remote service remembers a router for half a minute.
		await portal.advance(31_000);
		for (const [path, parts] of [
			['/', 3],
			[`/r/${ROUTER}`, 4],
			[`/ar/r/${ROUTER}`, 4],
			[`/rw/r/${ROUTER}`, 4]
		] as const) {
			await page.goto(portal.url + path);
			for (const width of WIDTHS) {
				await page.setViewportSize({ width, height: 700 });
				const at = `${path} with "${name}" at ${width}`;
				expect.soft(await crowded(page), at).toEqual({ parts, outside: [], pairs: [] });
			}
		}
	}
	await setName(null);
	await sql.close();
});

test('the languages open over the page and do not move it', async ({ page, portal }) => {
	for (const width of WIDTHS) {
		await page.setViewportSize({ width, height: 640 });
		await page.goto(`${portal.url}/r/${ROUTER}`);
		const place = page.getByRole('heading', { level: 1 });
		const before = await place.boundingBox();
		await page.locator('.languages summary').click();
		await expect(page.locator('.languages a')).toHaveCount(8);
		for (const link of await page.locator('.languages a').all()) {
			await expect(link).toBeInViewport({ ratio: 1 });
			const isOnTop = await link.evaluate((element) => {
				const { left, top, width: wide, height } = element.getBoundingClientRect();
				return document.elementFromPoint(left + wide / 2, top + height / 2) === element;
			});
			expect(isOnTop).toBe(true);
		}
		expect(await place.boundingBox()).toEqual(before);
	}
});
