import { all } from './dom.ts';

/** The map begins to load when it is this near to the screen. */
const MARGIN = '300px';

/** `data-map-script`: loads the map's own script when the map comes near the screen; phones that stay at the list load none. */
export function loadMap(): void {
	for (const element of all('[data-map-script]')) {
		const load = () => {
			const { mapScript = '', failed = '' } = element.dataset;
			import(/* @vite-ignore */ mapScript).catch(() => {
				const text = element.querySelector('p');
				if (text) text.textContent = failed;
			});
		};
		if (!('IntersectionObserver' in window)) {
			load();
			continue;
		}
		const observer = new IntersectionObserver(
			(entries) => {
				if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
				observer.disconnect();
				load();
			},
			{ rootMargin: MARGIN }
		);
		observer.observe(element);
	}
}
