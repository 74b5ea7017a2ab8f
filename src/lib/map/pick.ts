/** The script of the map in the owner's form, `data-pick`: a tap sets the fields `lat` and `lon`. */
import { createMap, hereMarker, loadStyles, type MapView, positionIn } from './create-map.ts';
import { positionOf, roundDegrees } from './position.ts';

/** Shows the streets around a router, and a region if there is no position yet. */
const [CLOSE, FAR] = [17, 11];

const element = document.querySelector<HTMLElement>('[data-pick]');
if (element) void loadStyles().then(() => pick(element));

function pick(element: HTMLElement): void {
	const settings = JSON.parse(element.dataset['pick'] ?? '') as MapView;
	const fields = (['lat', 'lon'] as const).map((id) => document.getElementById(id) as HTMLInputElement);
	const [lat, lon] = fields;
	if (!lat || !lon) return;
	const { map } = createMap(element, settings);
	const marker = hereMarker([0, 0]);
	/** Marks the position in the fields, if they hold one. */
	const show = () => {
		const position = lat.value && lon.value ? positionOf(Number(lat.value), Number(lon.value)) : null;
		if (!position) return marker.remove();
		return marker.setLatLng([position.lat, position.lon]).addTo(map);
	};
	const follow = () => {
		if (show().getElement()) map.setView(marker.getLatLng(), CLOSE, { animate: false });
	};
	map.setZoom(FAR, { animate: false });
	follow();
	for (const field of fields) field.addEventListener('change', follow);
	map.on('click', ({ latlng }) => {
		const position = positionIn(latlng);
		lat.value = String(roundDegrees(position.lat));
		lon.value = String(roundDegrees(position.lon));
		show();
	});
}
