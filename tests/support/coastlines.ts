/**
 * Makes the map's own ground (`npm run coastlines`): coasts, borders and the names' places of all countries from
 * Natural Earth (public domain) as packed by world-atlas, in as much detail as 60,000 bytes hold. Detail goes where
 * it is used: Africa keeps finer lines than the rest, the ice of both poles hardly any.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as topojson from 'topojson-client';
import {
	encodeWorld,
	STEPS,
	type Country,
	type GridPoint,
	type World
} from '../../src/lib/map/world-format.ts';
import { weigh, type Point } from './simplify.ts';

export const WORLD_FILE = fileURLToPath(new URL('../../src/lib/map/world.bin', import.meta.url));
/** As stored, and as sent: the file does not compress further. */
export const MAX_BYTES = 60_000;
const SOURCE = fileURLToPath(new URL('../../node_modules/world-atlas/countries-10m.json', import.meta.url));

type Polygon = { type: 'Polygon'; arcs: number[][] };
type MultiPolygon = { type: 'MultiPolygon'; arcs: number[][][] };
type Shape = (Polygon | MultiPolygon) & { id?: string; properties: { name: string } };
interface Atlas {
	type: 'Topology';
	arcs: [number, number][][];
	objects: { countries: { type: 'GeometryCollection'; geometries: Shape[] } };
	transform: { scale: [number, number]; translate: [number, number] };
}

/** How much a square degree counts here. */
function importance([lon, lat]: Point): number {
	if (lat < -58) return 0.02;
	if (lat > 66) return 0.08;
	return lon > -19 && lon < 52 && lat > -36 && lat < 38 ? 6 : 1;
}

/** Square degrees as they are on the globe, by importance. */
function areaOf(a: Point, b: Point, c: Point): number {
	const twice = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
	return (Math.abs(twice) / 2) * Math.cos((b[1] * Math.PI) / 180) * importance(b);
}

function ringArea(points: readonly Point[]): number {
	let twice = 0;
	points.forEach(([x, y], index) => {
		const [nextX, nextY] = points[(index + 1) % points.length] ?? [x, y];
		twice += x * nextY - nextX * y;
	});
	const [first = [0, 0] as const] = points;
	return (Math.abs(twice) / 2) * Math.cos((first[1] * Math.PI) / 180) * importance(first);
}

/** Names of Natural Earth that differ from those of CLDR. A territory that is not here has no name of its own. */
const CODES: Readonly<Record<string, string>> = {
	Vatican: 'VA',
	'Marshall Is.': 'MH',
	'N. Mariana Is.': 'MP',
	'United States of America': 'US',
	'Falkland Is.': 'FK',
	'Cayman Is.': 'KY',
	'Turks and Caicos Is.': 'TC',
	Turkey: 'TR',
	'Trinidad and Tobago': 'TT',
	'S. Sudan': 'SS',
	'Solomon Is.': 'SB',
	'São Tomé and Principe': 'ST',
	'St. Vin. and Gren.': 'VC',
	'Saint Lucia': 'LC',
	'St. Kitts and Nevis': 'KN',
	'Cook Is.': 'CK',
	'W. Sahara': 'EH',
	Macedonia: 'MK',
	Palestine: 'PS',
	'Fr. Polynesia': 'PF',
	'Eq. Guinea': 'GQ',
	'Dominican Rep.': 'DO',
	'Faeroe Is.': 'FO',
	"Côte d'Ivoire": 'CI',
	'Dem. Rep. Congo': 'CD',
	Congo: 'CG',
	'Central African Rep.': 'CF',
	'Cabo Verde': 'CV',
	Myanmar: 'MM',
	'Bosnia and Herz.': 'BA',
	'Antigua and Barb.': 'AG'
};

function codesByName(): Map<string, string> {
	const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
	const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
	const pairs = letters.flatMap((a) => letters.map((b) => a + b));
	const known = pairs.flatMap((code) => {
		const name = names.of(code);
		return name === undefined ? [] : [[name, code] as const];
	});
	return new Map([...known, ...Object.entries(CODES)]);
}

const MAX_NAME_ZOOM = 8;
/** A name of middle length needs about this much room. */
const NAME_PIXELS = 70;

/** Where a country's name stands: the middle of its largest part; and from which zoom on that part is wide enough. */
function nameOf(rings: readonly Point[][], code: string): Country {
	const [largest = []] = rings.slice().sort((a, b) => ringArea(b) - ringArea(a));
	const [x, y] = widestMiddle(largest);
	const width = Math.max(...largest.map(([lon]) => lon)) - Math.min(...largest.map(([lon]) => lon));
	const fits = Math.ceil(Math.log2((NAME_PIXELS * 360) / (256 * Math.max(width, 0.01))));
	return {
		code,
		at: [Math.round(x * STEPS), Math.round(y * STEPS)],
		minZoom: Math.min(Math.max(fits, 2), MAX_NAME_ZOOM)
	};
}

/** Of some levels through a ring, the middle of the longest way inside. */
function widestMiddle(ring: readonly Point[]): Point {
	const lats = ring.map(([, lat]) => lat);
	const [low, high] = [Math.min(...lats), Math.max(...lats)];
	let best: { length: number; middle: Point } = { length: 0, middle: ring[0] ?? [0, 0] };
	for (let part = 0.2; part < 0.85; part += 0.05) {
		const level = low + part * (high - low);
		const crossings = ring
			.flatMap(([x, y], index) => {
				const [nextX, nextY] = ring[(index + 1) % ring.length] ?? [x, y];
				return y > level === nextY > level ? [] : [x + ((level - y) / (nextY - y)) * (nextX - x)];
			})
			.sort((a, b) => a - b);
		for (let at = 0; at + 1 < crossings.length; at += 2) {
			const [from = 0, to = 0] = crossings.slice(at, at + 2);
			// Levels near the middle are better than the very longest way.
			const length = (to - from) * (1 - Math.abs(part - 0.5) / 2);
			if (length > best.length) best = { length, middle: [(from + to) / 2, level] };
		}
	}
	return best.middle;
}

/** The world with every point whose triangle is larger than a threshold, and every island as large. */
function worldAt(threshold: number, source: Source): World {
	const kept = new Map<number, number>();
	const arcs: GridPoint[][] = [];
	const arcFor = (reference: number): number => {
		const index = reference < 0 ? ~reference : reference;
		let place = kept.get(index);
		if (place === undefined) {
			place = arcs.length;
			kept.set(index, place);
			arcs.push(source.simplified(index, threshold));
		}
		return reference < 0 ? ~place : place;
	};
	const land = source.land
		.filter(({ area, isMain }) => isMain || area > 3 * threshold)
		.map(({ rings }) =>
			rings
				.filter(({ area }, index) => index === 0 || area > 3 * threshold)
				.map(({ arcs: references }) => references.map(arcFor))
		);
	const borders = source.borders.map(arcFor).sort((a, b) => a - b);
	return { arcs, land, borders, countries: source.countries };
}

interface Source {
	land: { area: number; isMain: boolean; rings: { area: number; arcs: number[] }[] }[];
	borders: number[];
	countries: Country[];
	simplified(arc: number, threshold: number): GridPoint[];
}

function readSource(): Source {
	const atlas = JSON.parse(readFileSync(SOURCE, 'utf8')) as Atlas;
	const { scale, translate } = atlas.transform;
	const arcs = atlas.arcs.map((arc): Point[] => {
		let [x, y] = [0, 0];
		return arc.map(([dx, dy]) => {
			[x, y] = [x + dx, y + dy];
			return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
		});
	});
	const weights = arcs.map((arc) => weigh(arc, areaOf));
	const pointsOf = (ring: readonly number[]) =>
		ring.flatMap((reference) => {
			const arc = arcs[reference < 0 ? ~reference : reference] ?? [];
			return (reference < 0 ? arc.slice().reverse() : arc).slice(1);
		});
	const shapes = atlas.objects.countries.geometries;
	const polygonsOf = (shape: Polygon | MultiPolygon) =>
		shape.type === 'Polygon' ? [shape.arcs] : shape.arcs;

	// An arc that two countries use is a border, and inside the land.
	const uses = new Map<number, number>();
	for (const arc of shapes.flatMap((shape) => polygonsOf(shape).flat(2))) {
		const index = arc < 0 ? ~arc : arc;
		uses.set(index, (uses.get(index) ?? 0) + 1);
	}
	const mainArcs = new Set(
		shapes.flatMap((shape) => {
			const outer = polygonsOf(shape).map(([ring = []]) => ring);
			const [largest = []] = outer.sort((a, b) => ringArea(pointsOf(b)) - ringArea(pointsOf(a)));
			return largest.map((arc) => (arc < 0 ? ~arc : arc));
		})
	);
	const merged = topojson.mergeArcs(
		atlas as unknown as Parameters<typeof topojson.mergeArcs>[0],
		shapes as unknown as Parameters<typeof topojson.mergeArcs>[1]
	) as unknown as MultiPolygon;
	const land = merged.arcs.map((rings) => {
		const measured = rings.map((ring) => ({ area: ringArea(pointsOf(ring)), arcs: ring }));
		return {
			area: measured[0]?.area ?? 0,
			isMain: rings.some((ring) => ring.some((arc) => mainArcs.has(arc < 0 ? ~arc : arc))),
			rings: measured
		};
	});
	const codes = codesByName();
	const countries = shapes.flatMap((shape) => {
		const code = codes.get(shape.properties.name);
		return code === undefined
			? []
			: [
					nameOf(
						polygonsOf(shape).map(([ring = []]) => pointsOf(ring)),
						code
					)
				];
	});
	return {
		land,
		borders: [...uses].filter(([, count]) => count > 1).map(([index]) => index),
		countries: countries.sort((a, b) => a.at[0] - b.at[0]),
		simplified: (index, threshold) => onGrid(arcs[index] ?? [], weights[index] ?? [], threshold)
	};
}

/** A closed arc keeps three corners at least. */
function onGrid(arc: readonly Point[], weights: readonly number[], threshold: number): GridPoint[] {
	const [first, last] = [arc[0], arc.at(-1)];
	const isClosed = first && last && first[0] === last[0] && first[1] === last[1];
	const least = isClosed ? (weights.slice(1, -1).sort((a, b) => b - a)[1] ?? 0) : Infinity;
	const points = arc
		.filter((_point, index) => (weights[index] ?? 0) >= Math.min(threshold, least))
		.map(([lon, lat]): GridPoint => [Math.round(lon * STEPS), Math.round(lat * STEPS)]);
	return points.filter(([x, y], index) => {
		const before = points[index - 1];
		return index === points.length - 1 || !before || before[0] !== x || before[1] !== y;
	});
}

/** The most detailed world that fits. */
export function makeWorld(): Uint8Array {
	const source = readSource();
	let [tooFine, best] = [0, 4];
	let bytes = encodeWorld(worldAt(best, source));
	for (let step = 0; step < 18; step += 1) {
		const middle = tooFine === 0 ? best / 8 : Math.sqrt(tooFine * best);
		const tried = encodeWorld(worldAt(middle, source));
		if (tried.length <= MAX_BYTES) [best, bytes] = [middle, tried];
		else tooFine = middle;
	}
	return bytes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const bytes = makeWorld();
	writeFileSync(WORLD_FILE, bytes);
	console.log(`${WORLD_FILE}: ${bytes.length} bytes`);
}
