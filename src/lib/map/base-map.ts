/** The streets of the installation's PMTiles file, if it has one. */
import L from 'leaflet';

interface Streets {
	kind: 'pmtiles';
	bounds: [south: number, west: number, north: number, east: number];
	/** Changes with the file, so that browsers may cache it. */
	version: string;
	maxZoom: number;
	attribution: string;
}

interface Options {
	element: HTMLElement;
	language: string;
	address: string;
	attribution: L.Control.Attribution;
}

/** Adds the streets, and again in the colours of a new theme. The class `streets` says that the view has some. */
export async function addBaseMap(
	map: L.Map,
	{ element, language, address, attribution }: Options
): Promise<void> {
	const found = await fetch(address)
		.then((response) => response.json() as Promise<Streets | { kind: 'none' }>)
		.catch(() => ({ kind: 'none' as const }));
	if (found.kind === 'none') return;
	const { streetLayer } = await import('./streets.ts');
	// The control takes HTML, so escape the text.
	const plain = document.createElement('span');
	plain.textContent = found.attribution;
	attribution.addAttribution(plain.innerHTML);
	const [south, west, north, east] = found.bounds;
	const bounds = L.latLngBounds([south, west], [north, east]);
	const look = () => element.classList.toggle('streets', bounds.intersects(map.getBounds()));
	map.on('moveend', look);
	look();
	const url = new URL(`${address}/tiles.pmtiles?v=${found.version}`, location.href).href;
	const lay = () => streetLayer(url, { element, language, bounds, maxDataZoom: found.maxZoom }).addTo(map);
	let layer = lay();
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
		layer.remove();
		layer = lay();
	});
}
