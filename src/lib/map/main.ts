/** The map's own script: draws into the list page's element with `data-map`. */
import leafletStyleUrl from 'leaflet/dist/leaflet.css?url';
import mapStyleUrl from '#lib/styles/map.css?url';
import { drawMap } from './router-map.ts';
import type { MapSettings } from './settings.ts';

const element = document.querySelector<HTMLElement>('[data-map]');

/** Ours after Leaflet's, to override it. */
const styles = [leafletStyleUrl, mapStyleUrl].map(
	(href) =>
		new Promise<void>((loaded) => {
			const link = document.createElement('link');
			link.rel = 'stylesheet';
			link.href = href;
			link.onload = () => loaded();
			document.head.append(link);
		})
);

if (element) {
	const settings = JSON.parse(element.dataset['map'] ?? '') as MapSettings;
	void Promise.all(styles).then(() => drawMap(element, settings));
}
