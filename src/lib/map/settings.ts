import type { Position } from '../domain/geo.ts';
import type { MapRouter } from './router-feed.ts';

/** The first view of a map, and its texts in the page's language. */
export interface MapView {
	position: Position;
	texts: { label: string; zoomIn: string; zoomOut: string };
}

/** Settings of the map's script, in `data-map` of the list page. */
export interface MapSettings extends MapView {
	routers: MapRouter[];
	/** Radius of the search in metres. */
	radius: number;
	/** Address of the list, to which a position is added. */
	list: string;
	/** Address of `/map-routers`, to which an area is added. */
	feed: string;
	texts: MapTexts;
}

/** Texts of the page's language, with the placeholders {count}, {name} and {price}. */
export interface MapTexts {
	label: string;
	zoomIn: string;
	zoomOut: string;
	searchHere: string;
	group: string;
	listedGroup: string;
	router: string;
	offlineRouter: string;
	inView: string;
}

export const fill = (text: string, values: Record<string, string>): string =>
	text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
