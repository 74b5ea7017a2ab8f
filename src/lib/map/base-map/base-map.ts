import L from 'leaflet';
import { addCoasts } from './coast-layer.ts';
import { readPalette } from './palette.ts';

/**
 * The base map: streets, images of a tile server, or coasts. Coasts also appear beyond the streets and while
 * the tile server is unavailable, so that the map is never blank.
 */

interface Streets {
	kind: 'pmtiles';
	attribution: string;
	version: string;
	bounds: [south: number, west: number, north: number, east: number];
	maxZoom: number;
}

type Facts = Streets | { kind: 'tiles'; attribution: string; maxZoom: number } | { kind: 'none' };

const NATURAL_EARTH = 'Natural Earth';

interface Options {
	element: HTMLElement;
	language: string;
	address: string;
	attribution: L.Control.Attribution;
}

/** Adds the base map, and again in the colours of a new theme. */
export function addBaseMap(map: L.Map, options: Options): void {
	const facts = fetch(options.address)
		.then((response) => response.json() as Promise<Facts>)
		.catch((): Facts => ({ kind: 'none' }));
	let baseMap: BaseMap | null = null;
	const lay = () => {
		baseMap?.remove();
		const next = (baseMap = new BaseMap(map, options));
		void facts.then((found) => next.lay(found));
	};
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', lay);
	lay();
}

class BaseMap {
	readonly #map: L.Map;
	readonly #options: Options;
	readonly #parts: (() => void)[] = [];
	#isRemoved = false;
	#hasCoasts = false;

	constructor(map: L.Map, options: Options) {
		this.#map = map;
		this.#options = options;
	}

	remove(): void {
		this.#isRemoved = true;
		for (const remove of this.#parts) remove();
	}

	async lay(facts: Facts): Promise<void> {
		if (this.#isRemoved) return;
		const { address } = this.#options;
		if (facts.kind === 'pmtiles') await this.#layStreets(facts);
		else if (facts.kind === 'tiles') {
			const { maxZoom: maxNativeZoom, attribution } = facts;
			const tiles = L.tileLayer(`${address}/{z}/{x}/{y}.png`, { maxNativeZoom, maxZoom: 22 });
			tiles.once('tileerror', () => this.#showCoasts());
			this.#add(tiles, attribution);
		} else this.#showCoastsIf(() => true);
	}

	async #layStreets({ bounds: [south, west, north, east], version, maxZoom, attribution }: Streets) {
		const bounds = L.latLngBounds([south, west], [north, east]);
		// Loads the coasts only when the view leaves the streets.
		this.#showCoastsIf(() => !bounds.contains(this.#map.getBounds()));
		const { element, language, address } = this.#options;
		const { streetLayer } = await import('./streets.ts');
		if (this.#isRemoved) return;
		const url = new URL(`${address}/tiles.pmtiles?v=${version}`, location.href).href;
		const palette = readPalette(element);
		this.#add(streetLayer(url, { palette, language, bounds, maxDataZoom: maxZoom }), attribution);
	}

	#add(layer: L.Layer, attribution: string): void {
		layer.addTo(this.#map);
		this.#parts.push(() => layer.remove());
		this.#credit(attribution);
	}

	#credit(text: string): void {
		const { attribution } = this.#options;
		// The control takes HTML, so escape the text.
		const plain = document.createElement('span');
		plain.textContent = text;
		attribution.addAttribution(plain.innerHTML);
		this.#parts.push(() => attribution.removeAttribution(plain.innerHTML));
	}

	#showCoastsIf(isNeeded: () => boolean): void {
		const look = () => {
			if (isNeeded()) this.#showCoasts();
		};
		look();
		this.#map.on('moveend', look);
		this.#parts.push(() => this.#map.off('moveend', look));
	}

	#showCoasts(): void {
		if (this.#hasCoasts) return;
		this.#hasCoasts = true;
		const { element, language } = this.#options;
		addCoasts(this.#map, readPalette(element), language).then(
			(remove) => {
				if (this.#isRemoved) return remove();
				this.#parts.push(remove);
				this.#credit(NATURAL_EARTH);
			},
			// The next move retries.
			() => void (this.#hasCoasts = false)
		);
	}
}
