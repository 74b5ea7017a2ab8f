import L from 'leaflet';
import type { Position } from '../domain/geo.ts';

export interface Mark extends Position {
	/** Identifies a mark across redraws. */
	key: string;
	kind: 'pin' | 'cluster' | 'router';
	text: string;
	name: string;
	isOffline: boolean;
	/** Its routers are in the list. */
	isListed: boolean;
	size: number;
	ids: readonly number[];
	onChoose(): void;
}

export interface Markers {
	/** Shows exactly these marks; unchanged ones are not redrawn. */
	show(marks: readonly Mark[]): void;
	point(id: number | null): void;
	/** Focuses the mark nearest to a position. Returns false if there is none. */
	focusNear(position: Position): boolean;
	remove(): void;
}

interface Shown {
	mark: Mark;
	marker: L.Marker;
	element: HTMLElement;
}

const TOP = 1000;

/** The list's pins are not reachable by keyboard, because the list is beside them. Others are buttons. */
export function createMarkers(map: L.Map): Markers {
	const layer = L.layerGroup().addTo(map);
	const shown = new Map<string, Shown>();
	let pointed: number | null = null;
	let tooltip: L.Tooltip | null = null;
	/** The user dragged the map by a mark: the end of the drag is not a click. */
	let isDragged = false;
	map.on('dragstart', () => (isDragged = true));

	function hideName(): void {
		tooltip?.remove();
		tooltip = null;
	}

	function showName({ lat, lon, name, size }: Mark): void {
		hideName();
		const text = document.createElement('bdi');
		text.textContent = name;
		tooltip = L.tooltip({ direction: 'top', offset: [0, -size / 2] })
			.setLatLng([lat, lon])
			.setContent(text)
			.addTo(map);
	}

	function elementOf(mark: Mark): HTMLElement {
		const isButton = mark.kind !== 'pin';
		const element = document.createElement(isButton ? 'button' : 'span');
		element.className = CLASSES[mark.kind];
		element.classList.toggle('off', mark.isOffline);
		element.classList.toggle('listed', mark.isListed);
		element.textContent = mark.text;
		if (isButton) {
			element.setAttribute('type', 'button');
			element.setAttribute('aria-label', mark.name);
		}
		element.addEventListener('click', (event) => {
			// Leaflet would treat it as a click on the map.
			event.stopPropagation();
			if (isDragged) return;
			hideName();
			mark.onChoose();
		});
		element.addEventListener('pointerdown', () => (isDragged = false));
		element.addEventListener('keydown', () => (isDragged = false));
		element.addEventListener('mouseenter', () => showName(mark));
		element.addEventListener('mouseleave', hideName);
		element.addEventListener('focus', () => showName(mark));
		element.addEventListener('blur', hideName);
		return element;
	}

	function add(mark: Mark): void {
		const element = elementOf(mark);
		const marker = L.marker([mark.lat, mark.lon], {
			icon: L.divIcon({ className: 'mark', html: element, iconSize: [mark.size, mark.size] }),
			interactive: false,
			keyboard: false,
			zIndexOffset: mark.isListed ? TOP : 0
		}).addTo(layer);
		shown.set(mark.key, { mark, marker, element });
	}

	function pointAgain(): void {
		for (const { mark, marker, element } of shown.values()) {
			const isPointed = pointed !== null && mark.ids.includes(pointed);
			if (element.classList.contains('marked') === isPointed) continue;
			element.classList.toggle('marked', isPointed);
			marker.setZIndexOffset((mark.isListed ? TOP : 0) + (isPointed ? TOP : 0));
		}
	}

	return {
		show(marks) {
			const wanted = new Set(marks.map(({ key }) => key));
			for (const [key, { marker, element }] of shown) {
				if (wanted.has(key)) continue;
				if (element === document.activeElement) hideName();
				marker.remove();
				shown.delete(key);
			}
			for (const mark of marks) if (!shown.has(mark.key)) add(mark);
			pointAgain();
		},
		point(id) {
			pointed = id;
			pointAgain();
		},
		focusNear({ lat, lon }) {
			const at = map.latLngToLayerPoint([lat, lon]);
			let nearest: { element: HTMLElement; distance: number } | null = null;
			for (const { mark, element } of shown.values()) {
				const distance = at.distanceTo(map.latLngToLayerPoint([mark.lat, mark.lon]));
				if (mark.kind !== 'pin' && distance < (nearest?.distance ?? Infinity))
					nearest = { element, distance };
			}
			nearest?.element.focus({ preventScroll: true });
			return nearest !== null;
		},
		remove() {
			hideName();
			layer.remove();
			shown.clear();
		}
	};
}

const CLASSES = { pin: 'pin', cluster: 'cluster', router: 'dot-router' } as const;
