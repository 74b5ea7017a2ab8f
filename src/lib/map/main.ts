/** The map's own script: draws into the list page's element with `data-map`. */
import { loadStyles } from './create-map.ts';
import { drawMap } from './router-map.ts';
import type { MapSettings } from './settings.ts';

const element = document.querySelector<HTMLElement>('[data-map]');

if (element) {
	const settings = JSON.parse(element.dataset['map'] ?? '') as MapSettings;
	void loadStyles().then(() => drawMap(element, settings));
}
