import * as m from '../i18n/messages.js';
import type { Position } from '../domain/geo.ts';
import { createGrouping, type Group } from './grouping.ts';
import type { Mark } from './markers.ts';
import type { FedPlace } from './places-feed.ts';

/** Turns places into what stands on the map: pins with the numbers of the list, single places, and groups. */

export interface ListedPlace extends FedPlace {
	/** In the list. */
	number: number;
}

interface Actions {
	onMark(id: number): void;
	/** A group was chosen that falls apart at that zoom. */
	onApart(group: Position, zoom: number): void;
	/** Look for Wi-Fi there. */
	onSearch(position: Position): void;
}

export interface Marks {
	setListed(places: readonly ListedPlace[]): void;
	/** Those of the list are left out: they have their own pins. */
	setOthers(places: Iterable<FedPlace>): void;
	at(box: { west: number; south: number; east: number; north: number }, zoom: number): Mark[];
	/** Places in a box, the list's included. */
	countIn(box: { west: number; south: number; east: number; north: number }): number;
}

/** Nearer than this pins of the list would hide each other. */
const LISTED_PIXELS = 20;
const OTHERS_PIXELS = 60;
const PIN_SIZE = 28;
const PLACE_SIZE = 18;
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** @param maxZoom closest zoom of the map; what is still together there is searched around instead */
export function createMarks(maxZoom: number, actions: Actions): Marks {
	const listed = createGrouping<ListedPlace>(LISTED_PIXELS, maxZoom);
	const others = createGrouping<FedPlace>(OTHERS_PIXELS, maxZoom);
	let listedPlaces: readonly ListedPlace[] = [];

	function choose({ lat, lon, apartAt }: Group<FedPlace>): void {
		if (apartAt !== null && apartAt <= maxZoom) actions.onApart({ lat, lon }, apartAt);
		else actions.onSearch({ lat, lon });
	}

	const nameOf = ({ name, price, online }: FedPlace) =>
		online ? m.map_place({ name, price }) : m.map_place_offline({ name });

	function listedMark(group: Group<ListedPlace>): Mark {
		const { lat, lon, members, count } = group;
		const numbers = members.map(({ number }) => number);
		const [place] = members;
		const isOne = count === 1 && place !== undefined;
		return {
			lat,
			lon,
			key: `listed ${numbers.join()} ${lat} ${lon}`,
			kind: isOne ? 'pin' : 'cluster',
			text: isOne ? String(place.number) : `${Math.min(...numbers)}+`,
			name: isOne ? nameOf(place) : m.map_group_listed({ count: String(count) }),
			isOffline: members.every(({ online }) => !online),
			isListed: true,
			size: isOne ? PIN_SIZE : PIN_SIZE + 8,
			ids: members.map(({ id }) => id),
			onChoose: () => (isOne ? actions.onMark(place.id) : choose(group))
		};
	}

	function otherMark(group: Group<FedPlace>): Mark {
		const { lat, lon, members, count } = group;
		const [place] = members;
		const isOne = count === 1 && place !== undefined;
		const total = new Intl.NumberFormat(document.documentElement.lang).format(count);
		return {
			lat,
			lon,
			key: isOne ? `place ${place.id} ${place.price} ${place.online}` : `group ${lat} ${lon} ${count}`,
			kind: isOne ? 'place' : 'cluster',
			text: isOne ? '' : SHORT.format(count),
			name: isOne ? nameOf(place) : m.map_group({ count: total }),
			isOffline: isOne && !place.online,
			isListed: false,
			size: isOne ? PLACE_SIZE : sizeOf(count),
			ids: members.map(({ id }) => id),
			onChoose: () => (isOne ? actions.onSearch(place) : choose(group))
		};
	}

	return {
		setListed(places) {
			listedPlaces = places;
			listed.load(places);
		},
		setOthers(places) {
			const ids = new Set(listedPlaces.map(({ id }) => id));
			others.load([...places].filter(({ id }) => !ids.has(id)));
		},
		at(box, zoom) {
			// In the order of the screen, so that the focus goes over the map as one reads.
			const found = others.at(box, zoom).sort((a, b) => b.lat - a.lat || a.lon - b.lon);
			return [...listed.at(box, zoom).map(listedMark), ...found.map(otherMark)];
		},
		countIn(box) {
			const sum = (groups: { count: number }[]) => groups.reduce((total, { count }) => total + count, 0);
			return sum(listed.at(box, maxZoom)) + sum(others.at(box, maxZoom));
		}
	};
}

/** 36 pixels for a few, 56 for thousands. */
const sizeOf = (count: number) => Math.round(Math.min(56, 32 + 6.5 * Math.log10(count)));
