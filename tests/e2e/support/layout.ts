/** Faults of a page that a person sees on a small screen, with large letters, chosen colours or less motion. */
import type { Page } from '@playwright/test';

/**
 * Finds unreadable parts of a page: that the page scrolls sideways, text that ends outside of the screen,
 * and text that is cut off inside of its box. What scrolls inside itself (code, a map) is not cut.
 */
export function cutOff(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const root = document.documentElement;
		const found: string[] = [];
		if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth}px wide`);
		const nameOf = (element: Element) =>
			`<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${element.textContent.trim().slice(0, 40)}`;
		const scrolls = (element: Element | null): boolean =>
			element !== null &&
			(/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
		for (const element of document.querySelectorAll('body *')) {
			const text = [...element.childNodes].some(
				(node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim()
			);
			const box = element.getBoundingClientRect();
			// Inside of what is folded up.
			if (element.closest('details:not([open])') && !element.closest('summary')) continue;
			// What only a screen reader reads is a point, or stands outside until it has the focus.
			if (!text || box.width <= 1 || box.height <= 1 || element.closest('.skip, .leaflet-container'))
				continue;
			if (scrolls(element)) continue;
			const style = getComputedStyle(element);
			if (box.left < -1 || box.right > root.clientWidth + 1) found.push(`outside: ${nameOf(element)}`);
			const hides = style.overflowX !== 'visible' || style.overflowY !== 'visible';
			const tooSmall =
				element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
			if (hides && tooSmall && style.display !== 'inline') found.push(`cut: ${nameOf(element)}`);
		}
		return found;
	});
}

/** Targets that are lower than a fingertip. A link within a sentence is as high as its line. */
export function lowTargets(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const least = 44;
		const selector = ':is(a[href], button, summary, select, input:not([type=hidden])):not(.visually-hidden)';
		return [...document.querySelectorAll(selector)].flatMap((element) => {
			// The card around a link that covers it is the target; the reference is text with many links.
			const excused = '.skip, .covers, .docs article, .leaflet-container';
			if (element.closest(`${excused}, details:not([open]) > :not(summary)`)) return [];
			const { display } = getComputedStyle(element);
			const sentence = element.closest('p, li, td, dd')?.textContent.trim() ?? '';
			if (display === 'inline' && sentence.length > element.textContent.trim().length) return [];
			const { width, height } = (element.closest('label') ?? element).getBoundingClientRect();
			return width === 0 || height > least - 0.5 ? [] : [`${element.outerHTML.slice(0, 100)}: ${height}px`];
		});
	});
}

/** Buttons and fields that have no edge which can be seen. */
export function edgeless(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const found: string[] = [];
		for (const element of document.querySelectorAll('button, .button, .input, .tiles span, select')) {
			const style = getComputedStyle(element);
			const box = element.getBoundingClientRect();
			if (box.width <= 1 || element.closest('.leaflet-container')) continue;
			const edges = ['Top', 'Right', 'Bottom', 'Left'].filter((side) => {
				const width = Reflect.get(style, `border${side}Width`) as string;
				const line = Reflect.get(style, `border${side}Style`) as string;
				const colour = Reflect.get(style, `border${side}Color`) as string;
				return parseFloat(width) >= 1 && line !== 'none' && colour !== style.backgroundColor;
			});
			if (edges.length < 4) found.push(`${element.outerHTML.slice(0, 100)}: ${edges.length} edges`);
		}
		return found;
	});
}

/** Animations that run. */
export const moving = (page: Page): Promise<number> =>
	page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
