/**
 * The coasts and borders of the world in one small file: arcs on a grid of 1/200 degree, each point as the way from
 * the one before, numbers in as few bytes as they need (LEB128, signs in the lowest bit). Polygons and borders name
 * their arcs, so that a border between two countries is written once. All of it is made by `npm run coastlines`.
 */

/** Grid steps in a degree: half a kilometre each. */
export const STEPS = 200;
const MAGIC = 'AWM1';

/** Longitude and latitude in steps of the grid. */
export type GridPoint = readonly [x: number, y: number];

export interface World {
	arcs: GridPoint[][];
	/** Land masses: rings of arcs, the outer one first; `~i` is arc `i` backwards. */
	land: number[][][];
	/** Arcs between two countries. */
	borders: number[];
	countries: Country[];
}

export interface Country {
	/** ISO 3166, two letters. */
	code: string;
	/** Where its name stands. */
	at: GridPoint;
	/** First zoom at which the name has room. */
	minZoom: number;
}

export function encodeWorld({ arcs, land, borders, countries }: World): Uint8Array<ArrayBuffer> {
	const bytes: number[] = [...MAGIC].map((letter) => letter.charCodeAt(0));
	const unsigned = (value: number) => {
		let rest = value;
		for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
		bytes.push(rest);
	};
	const signed = (value: number) => unsigned(value < 0 ? -2 * value - 1 : 2 * value);
	const list = <T>(items: readonly T[], write: (item: T) => void) => {
		unsigned(items.length);
		items.forEach(write);
	};
	let [x, y] = [0, 0];
	const point = ([nextX, nextY]: GridPoint) => {
		signed(nextX - x);
		signed(nextY - y);
		[x, y] = [nextX, nextY];
	};
	let last = 0;
	const reference = (arc: number) => {
		signed((arc < 0 ? ~arc : arc) - last);
		last = arc < 0 ? ~arc : arc;
	};
	list(arcs, (arc) => list(arc, point));
	list(land, (rings) =>
		list(rings, (ring) =>
			list(ring, (arc) => {
				reference(arc);
				bytes.push(arc < 0 ? 1 : 0);
			})
		)
	);
	list(borders, reference);
	list(countries, ({ code, at, minZoom }) => {
		bytes.push(code.charCodeAt(0), code.charCodeAt(1), minZoom);
		point(at);
	});
	return Uint8Array.from(bytes);
}

/** @throws Error where the bytes are of another format */
export function decodeWorld(bytes: Uint8Array): World {
	let at = 0;
	const byte = () => {
		const value = bytes[at];
		if (value === undefined) throw new Error('The file of the world ends too early');
		at += 1;
		return value;
	};
	const unsigned = () => {
		let value = 0;
		for (let factor = 1; ; factor *= 0x80) {
			const next = byte();
			value += (next % 0x80) * factor;
			if (next < 0x80) return value;
		}
	};
	const signed = () => {
		const value = unsigned();
		return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
	};
	const list = <T>(read: () => T): T[] => Array.from({ length: unsigned() }, read);
	let [x, y] = [0, 0];
	const point = (): GridPoint => {
		x += signed();
		y += signed();
		return [x, y];
	};
	let last = 0;
	const reference = () => (last += signed());

	if ([...MAGIC].some((letter) => byte() !== letter.charCodeAt(0))) {
		throw new Error('This is not a file of the world');
	}
	return {
		arcs: list(() => list(point)),
		land: list(() =>
			list(() =>
				list(() => {
					const arc = reference();
					return byte() === 1 ? ~arc : arc;
				})
			)
		),
		borders: list(reference),
		countries: list(() => {
			const code = String.fromCharCode(byte(), byte());
			const minZoom = byte();
			return { code, minZoom, at: point() };
		})
	};
}

/** The points of a ring, each end of an arc once. */
export function ringPoints(arcs: readonly GridPoint[][], ring: readonly number[]): GridPoint[] {
	return ring.flatMap((reference) => {
		const arc = arcs[reference < 0 ? ~reference : reference] ?? [];
		return (reference < 0 ? arc.slice().reverse() : arc).slice(1);
	});
}
