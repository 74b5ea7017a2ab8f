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

interface Shown {
	mark: Mark;
	marker: L.Marker;
	element: HTMLElement;
}

const TOP = 1000;
const CLASSES = { pin: 'pin covers', cluster: 'cluster', router: 'dot-router covers' } as const;

/** The list's pins are not reachable by keyboard, because the list is beside them. Others are buttons. */
export class Markers {
	readonly #map: L.Map;
	readonly #layer: L.LayerGroup;
	readonly #shown = new Map<string, Shown>();
	#pointed: number | null = null;
	#tooltip: L.Tooltip | null = null;
	/** The user dragged the map by a mark: the end of the drag is not a click. */
	#isDragged = false;

	constructor(map: L.Map) {
		this.#map = map;
		this.#layer = L.layerGroup().addTo(map);
		map.on('dragstart', () => (this.#isDragged = true));
	}

	/** Shows exactly these marks; unchanged ones are not redrawn. The focus goes from a removed mark to the nearest. */
	show(marks: readonly Mark[]): void {
		const wanted = new Set(marks.map(({ key }) => key));
		let focused: Position | null = null;
		for (const [key, { mark, marker, element }] of this.#shown) {
			if (wanted.has(key)) continue;
			if (element === document.activeElement) {
				this.#hideName();
				focused = mark;
			}
			marker.remove();
			this.#shown.delete(key);
		}
		for (const mark of marks) if (!this.#shown.has(mark.key)) this.#add(mark);
		this.#pointAgain();
		if (focused) this.#focusNear(focused);
	}

	point(id: number | null): void {
		this.#pointed = id;
		this.#pointAgain();
	}

	/** Focuses the mark nearest to a position, or the map if there is none. */
	#focusNear({ lat, lon }: Position): void {
		const at = this.#map.latLngToLayerPoint([lat, lon]);
		let nearest: { element: HTMLElement; distance: number } | null = null;
		for (const { mark, element } of this.#shown.values()) {
			const distance = at.distanceTo(this.#map.latLngToLayerPoint([mark.lat, mark.lon]));
			if (mark.kind !== 'pin' && distance < (nearest?.distance ?? Infinity)) nearest = { element, distance };
		}
		(nearest?.element ?? this.#map.getContainer()).focus({ preventScroll: true });
	}

	#add(mark: Mark): void {
		const element = this.#elementOf(mark);
		const marker = L.marker([mark.lat, mark.lon], {
			icon: L.divIcon({ className: 'mark', html: element, iconSize: [mark.size, mark.size] }),
			interactive: false,
			keyboard: false,
			zIndexOffset: mark.isListed ? TOP : 0
		}).addTo(this.#layer);
		this.#shown.set(mark.key, { mark, marker, element });
	}

	#elementOf(mark: Mark): HTMLElement {
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
			if (this.#isDragged) return;
			this.#hideName();
			mark.onChoose();
		});
		for (const name of ['pointerdown', 'keydown'])
			element.addEventListener(name, () => (this.#isDragged = false));
		for (const name of ['mouseenter', 'focus']) element.addEventListener(name, () => this.#showName(mark));
		for (const name of ['mouseleave', 'blur']) element.addEventListener(name, () => this.#hideName());
		return element;
	}

	#showName({ lat, lon, name, size }: Mark): void {
		this.#hideName();
		const text = document.createElement('bdi');
		text.textContent = name;
		this.#tooltip = L.tooltip({ direction: 'top', offset: [0, -size / 2] })
			.setLatLng([lat, lon])
			.setContent(text)
			.addTo(this.#map);
	}

	#hideName(): void {
		this.#tooltip?.remove();
		this.#tooltip = null;
	}

	#pointAgain(): void {
		for (const { mark, marker, element } of this.#shown.values()) {
			const isPointed = this.#pointed !== null && mark.ids.includes(this.#pointed);
			if (element.classList.contains('marked') === isPointed) continue;
			element.classList.toggle('marked', isPointed);
			marker.setZIndexOffset((mark.isListed ? TOP : 0) + (isPointed ? TOP : 0));
		}
	}
}
