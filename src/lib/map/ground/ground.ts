import L from 'leaflet';
import { addCoasts } from './coast-layer.ts';
import { readPalette } from './palette.ts';

/**
 * The base map: streets, images of a tile server, or coasts. Coasts also appear beyond the streets and while
 * the tile server is unavailable, so that the map is never blank.
 */

type Facts =
	| {
			kind: 'pmtiles';
			attribution: string;
			version: string;
			bounds: [south: number, west: number, north: number, east: number];
			maxZoom: number;
	  }
	| { kind: 'tiles'; attribution: string; maxZoom: number }
	| { kind: 'none' };

const NATURAL_EARTH = 'Natural Earth';

interface Options {
	element: HTMLElement;
	language: string;
	address: string;
	attribution: L.Control.Attribution;
}

/** Adds the base map. Returns the function that removes it. */
export function layGround(map: L.Map, options: Options): () => void {
	let ended = false;
	let facts: Facts | null = null;
	let parts: (() => void)[] = [];
	let coasts: Promise<void> | null = null;

	const credit = (text: string) => {
		// The control takes HTML, so escape the text.
		const plain = document.createElement('span');
		plain.textContent = text;
		options.attribution.addAttribution(plain.innerHTML);
		parts.push(() => options.attribution.removeAttribution(plain.innerHTML));
	};
	const show = (layer: L.Layer) => {
		layer.addTo(map);
		parts.push(() => layer.remove());
	};

	function showCoasts(): void {
		const mine = parts;
		coasts ??= addCoasts(map, readPalette(options.element), options.language).then(
			(remove) => {
				if (ended || mine !== parts) return remove();
				parts.push(remove);
				credit(NATURAL_EARTH);
			},
			// The next move retries.
			() => void (coasts = null)
		);
	}

	/** Loads the coasts only when the view leaves the streets. */
	function coastsBeyond(bounds: L.LatLngBounds): void {
		const look = () => {
			if (!bounds.contains(map.getBounds())) showCoasts();
		};
		look();
		map.on('moveend', look);
		parts.push(() => map.off('moveend', look));
	}

	async function lay(): Promise<void> {
		if (facts?.kind === 'pmtiles') {
			const [south, west, north, east] = facts.bounds;
			const bounds = L.latLngBounds([south, west], [north, east]);
			coastsBeyond(bounds);
			const { kind, version, maxZoom, attribution } = facts;
			const { streetLayer } = await import('./streets.ts');
			if (ended || kind !== facts?.kind) return;
			show(
				streetLayer(new URL(`${options.address}/tiles.pmtiles?v=${version}`, location.href).href, {
					palette: readPalette(options.element),
					language: options.language,
					bounds,
					maxDataZoom: maxZoom
				})
			);
			credit(attribution);
		} else if (facts?.kind === 'tiles') {
			const tiles = L.tileLayer(`${options.address}/{z}/{x}/{y}.png`, {
				maxNativeZoom: facts.maxZoom,
				maxZoom: 22
			});
			tiles.once('tileerror', showCoasts);
			show(tiles);
			credit(facts.attribution);
		} else {
			showCoasts();
			const again = () => showCoasts();
			map.on('moveend', again);
			parts.push(() => map.off('moveend', again));
		}
	}

	function clear(): void {
		for (const remove of parts) remove();
		parts = [];
		coasts = null;
	}

	const relay = () => {
		clear();
		void lay();
	};
	const dark = matchMedia('(prefers-color-scheme: dark)');
	// Old WebViews know only the older name.
	if ('addEventListener' in dark) dark.addEventListener('change', relay);

	fetch(options.address)
		.then((response) => response.json() as Promise<Facts>)
		.catch((): Facts => ({ kind: 'none' }))
		.then((answer) => {
			if (ended) return;
			facts = answer;
			void lay();
		});

	return () => {
		ended = true;
		if ('removeEventListener' in dark) dark.removeEventListener('change', relay);
		clear();
	};
}
