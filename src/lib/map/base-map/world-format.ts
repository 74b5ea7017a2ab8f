/**
 * Reads `world.bin`: Natural Earth 1:10m (public domain), simplified to 60 KB with more detail in Africa.
 * Format: arcs on a grid of 1/200 degree, as LEB128 deltas with the sign in the lowest bit. Polygons and
 * borders refer to arcs, as in TopoJSON. Made by tests/support/coastlines.ts in commit 5efac53.
 */

/** Grid steps per degree, half a kilometre each. */
export const STEPS = 200;
const MAGIC = 'AWM1';

/** Longitude and latitude in grid steps. */
export type GridPoint = readonly [x: number, y: number];

export interface World {
	arcs: GridPoint[][];
	/** Land masses: rings of arcs, the outer one first; `~i` is arc `i` reversed. */
	land: number[][][];
	/** Arcs between two countries. */
	borders: number[];
	countries: Country[];
}

interface Country {
	/** ISO 3166, two letters. */
	code: string;
	at: GridPoint;
	/** The first zoom with room for the name. */
	minZoom: number;
}

/** @throws Error if the bytes have another format */
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

/** Returns the points of a ring without repeating the ends of arcs. */
export const ringPoints = (arcs: readonly GridPoint[][], ring: readonly number[]): GridPoint[] =>
	ring.flatMap((reference) => {
		const arc = arcs[reference < 0 ? ~reference : reference] ?? [];
		return (reference < 0 ? arc.slice().reverse() : arc).slice(1);
	});
