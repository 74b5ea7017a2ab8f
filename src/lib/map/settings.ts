import type { Position } from '../domain/geo.ts';
import type { MapRouter } from './router-feed.ts';

/** Settings of the map's script, in the attribute `data-map` of the list page. */
export interface MapSettings {
	/** The routers of the list. */
	routers: MapRouter[];
	/** Number of the first router of the list. */
	first: number;
	/** Centre of the search. */
	position: Position;
	/** Metres that were searched. */
	radius: number;
	/** Address of the list page. */
	list: string;
	/** Address of the routers around the list's. */
	feed: string;
	texts: MapTexts;
}

/** Sentences of the page's language, with the placeholders {count}, {name} and {price}. */
export interface MapTexts {
	label: string;
	searchHere: string;
	zoomIn: string;
	zoomOut: string;
	group: string;
	listedGroup: string;
	router: string;
	offlineRouter: string;
	inView: string;
}

/** Fills the placeholders of a text. */
export const fill = (text: string, values: Record<string, string>): string =>
	text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
