import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import type axe from 'axe-core';
import type { RunOptions } from 'axe-core';

const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Returns axe's findings on the page as it is, one line for each element. Loads axe once for each page: its package for
 * Playwright loads it twice for each look, which takes as long as the look.
 * @param part a selector; the whole page by default
 */
export async function findings(page: Page, options: RunOptions = {}, part?: string): Promise<string[]> {
	if (await page.evaluate(() => !('axe' in window))) await page.evaluate(SOURCE);
	return page.evaluate(
		async ([inside, narrowed]) => {
			const { axe: loaded } = window as unknown as { axe: typeof axe };
			const { violations } = await loaded.run(inside ?? document, narrowed as RunOptions);
			return violations.flatMap(({ id, help, nodes }) =>
				nodes.map(({ target, failureSummary }) => `${id} (${help}): ${target.join(' ')}\n${failureSummary}`)
			);
		},
		// What axe would load before (style sheets, media) is for a rule that is off and one about sound.
		[part, { resultTypes: ['violations'], preload: false, ...options }] as const
	);
}
