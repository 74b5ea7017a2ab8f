import { all } from './dom.ts';

/** Starts loading the map at this distance from the screen. */
const MARGIN = '300px';

/** `data-map-script`: loads the map's script when the map is near the screen. */
export function loadMap(): void {
	for (const element of all('[data-map-script]')) {
		const load = () => {
			const { mapScript = '', failed = '' } = element.dataset;
			import(/* @vite-ignore */ mapScript).catch(() => {
				const text = element.querySelector('p');
				if (text) text.textContent = failed;
			});
		};
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
