/** Numbers from 0 to below 1 of a fixed sequence (mulberry32), so that a failure can be repeated. */
export function sequence(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** The same as whole numbers from 0 to `below` - 1. */
export function random(seed: number): (below: number) => number {
	const next = sequence(seed);
	return (below) => Math.floor(next() * below);
}
