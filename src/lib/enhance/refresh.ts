import { all } from './dom.ts';

/** `data-refresh`: renews the element from its page after so many seconds, until the page leaves the attribute out. */
export function refresh(): void {
	const [element] = all('[data-refresh]');
	if (element) setTimeout(() => void renew(element), Number(element.dataset['refresh']) * 1000);
}

async function renew(element: HTMLElement): Promise<void> {
	const address = location.origin + location.pathname;
	const html = await fetch(address).then(
		(response) => response.text(),
		() => ''
	);
	const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById(element.id);
	if (fresh) {
		if (fresh.innerHTML !== element.innerHTML) element.innerHTML = fresh.innerHTML;
		if (fresh.dataset['refresh'] === undefined) delete element.dataset['refresh'];
	}
	refresh();
}
