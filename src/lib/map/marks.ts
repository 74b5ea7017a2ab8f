/** The routers on the map: a mark with the price, and one mark for routers that would overlap. */
import L from 'leaflet';
import Supercluster from 'supercluster';
import type { Position } from '../domain/geo.ts';
import { numberText } from '../i18n/intl.ts';
import { longitudeNear } from './position.ts';
import { fill, type MapRouter, type MapTexts } from './router-feed.ts';

/** Routers that are drawn as one mark. */
interface Group extends Position {
	/** Identifies the mark across redraws. */
	key: string;
	/** At most MAX_MEMBERS. */
	routers: readonly MapRouter[];
	count: number;
	/** The zoom at which the group separates; null for a single router. */
	apartAt: number | null;
}

/** Pixels: a mark with a price is as wide. */
const MARK_WIDTH = 56;
/** Larger groups are only counted. */
const MAX_MEMBERS = 20;
/** From this zoom on names stand below the marks. */
const NAMES_ZOOM = 16;

/** The list's routers above the others, the pointed one above all. */
const ABOVE = 1000;
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export interface Choice {
	/** Where the mark stands. */
	at: Position;
	routers: readonly MapRouter[];
	/** The group separates at this zoom. */
	apartAt: number | null;
	element: HTMLElement;
}

export type Marks = ReturnType<typeof createMarks>;

/**
 * @param listed ids of the list's routers, which stand out
 * @param onChoose a mark was clicked or pressed
 */
export function createMarks(
	map: L.Map,
	texts: MapTexts,
	listed: ReadonlySet<number>,
	onChoose: (choice: Choice) => void
) {
	const index = new Supercluster<{ router: MapRouter }>({
		radius: MARK_WIDTH,
		extent: 256,
		maxZoom: map.getMaxZoom(),
		minPoints: 2
	});
	const layer = L.layerGroup().addTo(map);
	const shown = new Map<string, { group: Group; marker: L.Marker; element: HTMLElement }>();
	let pointed: number | null = null;
	/** The user dragged the map by a mark: the end of the drag is not a click. */
	let isDragged = false;
	map.on('dragstart', () => (isDragged = true));

	function findGroups(view: L.LatLngBounds): Group[] {
		const box = [view.getWest(), view.getSouth(), view.getEast(), view.getNorth()] as const;
		return index.getClusters([...box], map.getZoom()).map(({ geometry, properties }) => {
			const [lon = 0, lat = 0] = geometry.coordinates;
			if (!('cluster' in properties)) {
				const { router } = properties;
				const key = `${router.id} ${router.mark} ${router.online}`;
				return { key, lat, lon, routers: [router], count: 1, apartAt: null };
			}
			const { cluster_id: id, point_count: count } = properties;
			const routers = index.getLeaves(id, MAX_MEMBERS).map((leaf) => leaf.properties.router);
			const key = `group ${lat} ${lon} ${count}`;
			return { key, lat, lon, routers, count, apartAt: index.getClusterExpansionZoom(id) };
		});
	}

	/** Draws the marks of the view; unchanged ones stay. The focus goes from a removed mark to the nearest. */
	function show(): void {
		const groups = findGroups(map.getBounds().pad(0.2));
		const wanted = new Set(groups.map(({ key }) => key));
		let focused: Position | null = null;
		for (const [key, { group, marker, element }] of shown) {
			// A view across the 180th meridian draws a mark beside its last place.
			const isNear = group.lon === longitudeNear(group.lon, map.getCenter().lng);
			if (wanted.has(key) && isNear) continue;
			if (element === document.activeElement) focused = group;
			marker.remove();
			shown.delete(key);
		}
		// In reading direction, which is the order of the focus.
		for (const group of groups.sort((a, b) => b.lat - a.lat || a.lon - b.lon)) {
			if (!shown.has(group.key)) add({ ...group, lon: longitudeNear(group.lon, map.getCenter().lng) });
		}
		map.getContainer().classList.toggle('named', map.getZoom() >= NAMES_ZOOM);
		pointAgain();
		if (focused) focusNear(focused);
	}

	function add(group: Group): void {
		const element = renderMark(group, texts);
		const isListed = group.routers.some(({ id }) => listed.has(id));
		element.classList.toggle('listed', isListed);
		element.addEventListener('click', (event) => {
			// Leaflet would treat it as a click on the map.
			event.stopPropagation();
			const { lat, lon, routers, apartAt } = group;
			if (!isDragged) onChoose({ at: { lat, lon }, routers, apartAt, element });
		});
		for (const name of ['pointerdown', 'keydown']) element.addEventListener(name, () => (isDragged = false));
		const marker = L.marker([group.lat, group.lon], {
			icon: L.divIcon({ className: 'mark', html: element, iconSize: [0, 0] }),
			interactive: false,
			keyboard: false,
			zIndexOffset: isListed ? ABOVE : 0
		}).addTo(layer);
		shown.set(group.key, { group, marker, element });
	}

	/** Focuses the mark nearest to a position, or the map if there is none. */
	function focusNear({ lat, lon }: Position): void {
		const at = map.latLngToLayerPoint([lat, lon]);
		let nearest: { element: HTMLElement; distance: number } | null = null;
		for (const { group, element } of shown.values()) {
			const distance = at.distanceTo(map.latLngToLayerPoint([group.lat, group.lon]));
			if (distance < (nearest?.distance ?? Infinity)) nearest = { element, distance };
		}
		(nearest?.element ?? map.getContainer()).focus({ preventScroll: true });
	}

	function pointAgain(): void {
		for (const { group, marker, element } of shown.values()) {
			const isPointed = pointed !== null && group.routers.some(({ id }) => id === pointed);
			element.classList.toggle('marked', isPointed);
			const isListed = element.classList.contains('listed');
			marker.setZIndexOffset((isListed ? ABOVE : 0) + (isPointed ? ABOVE : 0));
		}
	}

	return {
		/** Replaces the routers. */
		load(routers: Iterable<MapRouter>): void {
			const features = Array.from(routers, (router) => ({
				type: 'Feature' as const,
				geometry: { type: 'Point' as const, coordinates: [router.lon, router.lat] },
				properties: { router }
			}));
			index.load(features);
			show();
		},
		show,
		/** Marks the router of a row of the list. */
		point(id: number | null): void {
			pointed = id;
			pointAgain();
		},
		/** Counts the routers in the view. */
		countInView(): number {
			return findGroups(map.getBounds()).reduce((total, { count }) => total + count, 0);
		}
	};
}

function renderMark({ routers, count }: Group, texts: MapTexts): HTMLElement {
	const element = document.createElement('button');
	element.type = 'button';
	const [router] = routers;
	if (count > 1 || !router) {
		element.className = 'group';
		element.textContent = `×${COMPACT.format(count)}`;
		element.setAttribute('aria-label', fill(texts.group, { count: numberText(count) }));
		return element;
	}
	const { name, price, mark } = router;
	element.className = router.online ? 'price' : 'price off';
	element.setAttribute(
		'aria-label',
		fill(price === '' ? texts.offlineRouter : texts.router, { name, price })
	);
	const label = document.createElement('bdi');
	label.className = 'name';
	label.textContent = name;
	element.append(mark, label);
	return element;
}
