/** Purchases as a browser without script makes them: a form, sent, and the page that it leads to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { decoded } from './pages.ts';

const limitMs = 60_000;
const lookAgainMs = 100;

let lastNumber = 0;

/** A Ugandan mobile number that nobody used before in this process; its last three digits decide what happens. */
export function numberEnding(digits: string): string {
	lastNumber += 1;
	return `0774${String(lastNumber).padStart(3, '0')}${digits}`;
}

const attributeOf = (tag: string, name: string) =>
	decoded(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** The form of a page that asks for a number: where it goes, and its fields as a browser would send them untouched. */
function payForm(html: string): { action: string; fields: URLSearchParams } {
	const forms = [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)];
	const [, head = '', body = ''] = forms.find(([, , inside]) => inside?.includes('name="phone"')) ?? [];
	const fields = new URLSearchParams();
	for (const [tag] of body.matchAll(/<input\b[^>]*>/g)) {
		if (attributeOf(tag, 'type') === 'radio' && !/\schecked\b/.test(tag)) continue;
		fields.set(attributeOf(tag, 'name'), attributeOf(tag, 'value'));
	}
	return { action: attributeOf(head, 'action'), fields };
}

/**
 * Buys the usual time at a page with a form for it.
 * @param url of the installation
 * @param path of the page, e.g. `/r/3`
 * @returns the path of the page that the form leads to
 */
export async function buyAt(url: string, path: string, phone: string): Promise<string> {
	const { action, fields } = payForm(await (await fetch(url + path)).text());
	fields.set('phone', phone);
	const response = await fetch(new URL(action, url + path), {
		method: 'POST',
		redirect: 'manual',
		headers: { origin: url, accept: 'text/html' },
		body: fields
	});
	const place = response.headers.get('location');
	if (!place) throw new Error(`${path} sold nothing: ${response.status} ${await response.text()}`);
	return place;
}

/** The code that a page shows in large type. */
export const shownCode = (html: string): string | undefined =>
	/class="large"[^>]*>.*?([0-9A-Z]{4}-[0-9A-Z]{4})/s.exec(html)?.[1];

/** Waits until a page has the given title in it. */
export async function untilTitled(url: string, path: string, title: RegExp): Promise<void> {
	const deadline = performance.now() + limitMs;
	for (;;) {
		const html = await (await fetch(url + path)).text();
		const found = /<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1] ?? '';
		if (title.test(found)) return;
		if (performance.now() > deadline) throw new Error(`${path} says "${found}", not ${title}`);
		await sleep(lookAgainMs);
	}
}
