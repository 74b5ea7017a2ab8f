import L from 'leaflet';
import { addCoasts } from './coast-layer.ts';
import { readPalette } from './palette.ts';

/**
 * The base map: streets, or coasts. Coasts also appear beyond the streets, so that the map is never blank.
 */

interface Streets {
	kind: 'pmtiles';
	attribution: string;
	version: string;
	bounds: [south: number, west: number, north: number, east: number];
	maxZoom: number;
}

type Facts = Streets | { kind: 'none' };

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
	let remove = lay(map, options, facts);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
		remove();
		remove = lay(map, options, facts);
	});
}

/** Returns the function that removes it. */
function lay(map: L.Map, options: Options, facts: Promise<Facts>): () => void {
	const { element, language, address, attribution: control } = options;
	const parts: (() => void)[] = [];
	let isRemoved = false;
	let hasCoasts = false;

	void facts.then(async (found) => {
		if (isRemoved) return;
		if (found.kind === 'pmtiles') await layStreets(found);
		else showCoastsIf(() => true);
	});

	async function layStreets({ bounds: [south, west, north, east], version, maxZoom, attribution }: Streets) {
		const bounds = L.latLngBounds([south, west], [north, east]);
		// Loads the coasts only when the view leaves the streets.
		showCoastsIf(() => !bounds.contains(map.getBounds()));
		const { streetLayer } = await import('./streets.ts');
		if (isRemoved) return;
		const url = new URL(`${address}/tiles.pmtiles?v=${version}`, location.href).href;
		const palette = readPalette(element);
		add(streetLayer(url, { palette, language, bounds, maxDataZoom: maxZoom }), attribution);
	}

	function add(layer: L.Layer, attribution: string): void {
		layer.addTo(map);
		parts.push(() => layer.remove());
		credit(attribution);
	}

	function credit(text: string): void {
		// The control takes HTML, so escape the text.
		const plain = document.createElement('span');
		plain.textContent = text;
		control.addAttribution(plain.innerHTML);
		parts.push(() => control.removeAttribution(plain.innerHTML));
	}

	function showCoastsIf(isNeeded: () => boolean): void {
		const look = () => {
			if (isNeeded()) showCoasts();
		};
		look();
		map.on('moveend', look);
		parts.push(() => map.off('moveend', look));
	}

	function showCoasts(): void {
		if (hasCoasts) return;
		hasCoasts = true;
		addCoasts(map, readPalette(element), language).then(
			(remove) => {
				if (isRemoved) return remove();
				parts.push(remove);
				credit(NATURAL_EARTH);
			},
			// The next move retries.
			() => void (hasCoasts = false)
		);
	}

	return () => {
		isRemoved = true;
		for (const remove of parts) remove();
	};
}
