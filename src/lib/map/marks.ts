import type { Position } from '../domain/geo.ts';
import { numberText } from '../i18n/intl.ts';
import { createGrouping, type Box, type Group } from './grouping.ts';
import type { Mark } from './markers.ts';
import type { MapRouter } from './router-feed.ts';
import { fill, type MapTexts } from './settings.ts';

/** Turns routers into marks: pins with the list's numbers, single routers, and groups. */

interface ListedRouter extends MapRouter {
	number: number;
}

interface Actions {
	onMark(id: number): void;
	/** The chosen group separates at this zoom. */
	onApart(group: Position, zoom: number): void;
	onSearch(position: Position): void;
}

export type Marks = ReturnType<typeof createMarks>;

/** The list's pins would hide each other below this distance. */
const LISTED_PIXELS = 20;
const OTHERS_PIXELS = 60;
const PIN_SIZE = 28;
const ROUTER_SIZE = 18;
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** @param maxZoom closest zoom of the map; a group that stays together there starts a search */
export function createMarks(maxZoom: number, texts: MapTexts, actions: Actions) {
	const listed = createGrouping<ListedRouter>(LISTED_PIXELS, maxZoom);
	const others = createGrouping<MapRouter>(OTHERS_PIXELS, maxZoom);
	let listedRouters: readonly ListedRouter[] = [];

	function choose({ lat, lon, apartAt }: Group<MapRouter>): void {
		if (apartAt !== null && apartAt <= maxZoom) actions.onApart({ lat, lon }, apartAt);
		else actions.onSearch({ lat, lon });
	}

	const nameOf = ({ name, price }: MapRouter) =>
		fill(price === '' ? texts.offlineRouter : texts.router, { name, price });

	function listedMark(group: Group<ListedRouter>): Mark {
		const { lat, lon, members, count } = group;
		const numbers = members.map(({ number }) => number);
		const [router] = members;
		const isOne = count === 1 && router !== undefined;
		return {
			lat,
			lon,
			key: `listed ${numbers.join()} ${lat} ${lon}`,
			kind: isOne ? 'pin' : 'cluster',
			text: isOne ? String(router.number) : `${Math.min(...numbers)}+`,
			name: isOne ? nameOf(router) : fill(texts.listedGroup, { count: String(count) }),
			isOffline: members.every(({ online }) => !online),
			isListed: true,
			size: isOne ? PIN_SIZE : PIN_SIZE + 8,
			ids: members.map(({ id }) => id),
			onChoose: () => (isOne ? actions.onMark(router.id) : choose(group))
		};
	}

	function otherMark(group: Group<MapRouter>): Mark {
		const { lat, lon, members, count } = group;
		const [router] = members;
		const isOne = count === 1 && router !== undefined;
		const total = numberText(count);
		return {
			lat,
			lon,
			key: isOne ? `router ${router.id} ${router.price} ${router.online}` : `group ${lat} ${lon} ${count}`,
			kind: isOne ? 'router' : 'cluster',
			text: isOne ? '' : `×${SHORT.format(count)}`,
			name: isOne ? nameOf(router) : fill(texts.group, { count: total }),
			isOffline: isOne && !router.online,
			isListed: false,
			size: isOne ? ROUTER_SIZE : sizeOf(count),
			ids: members.map(({ id }) => id),
			onChoose: () => (isOne ? actions.onSearch(router) : choose(group))
		};
	}

	return {
		setListed(routers: readonly ListedRouter[]): void {
			listedRouters = routers;
			listed.load(routers);
		},
		/** Omits routers of the list, which have their own pins. */
		setOthers(routers: Iterable<MapRouter>): void {
			const ids = new Set(listedRouters.map(({ id }) => id));
			others.load([...routers].filter(({ id }) => !ids.has(id)));
		},
		at(box: Box, zoom: number): Mark[] {
			// In screen order, so that the focus moves in reading direction.
			const found = others.at(box, zoom).sort((a, b) => b.lat - a.lat || a.lon - b.lon);
			return [...listed.at(box, zoom).map(listedMark), ...found.map(otherMark)];
		},
		/** Counts the routers in a box, including those of the list. */
		countIn(box: Box): number {
			const sum = (groups: { count: number }[]) => groups.reduce((total, { count }) => total + count, 0);
			return sum(listed.at(box, maxZoom)) + sum(others.at(box, maxZoom));
		}
	};
}

/** 36 pixels for a few, 56 for thousands. */
const sizeOf = (count: number) => Math.round(Math.min(56, 32 + 6.5 * Math.log10(count)));
