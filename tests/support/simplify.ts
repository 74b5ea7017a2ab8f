/**
 * Simplification after Visvalingam and Whyatt: the point whose triangle with its neighbours is the smallest goes
 * first. Each point gets the size of the triangle with which it went, so that one number decides how much is left.
 */

export type Point = readonly [x: number, y: number];

interface Node {
	index: number;
	area: number;
	before: Node | null;
	after: Node | null;
	at: number;
}

/** A heap of nodes, the smallest triangle on top; each node knows its place. */
class Heap {
	readonly #nodes: Node[] = [];

	push(node: Node): void {
		node.at = this.#nodes.length;
		this.#nodes.push(node);
		this.#up(node);
	}

	pop(): Node | null {
		const [top] = this.#nodes;
		const last = this.#nodes.pop();
		if (top && last && top !== last) {
			this.#put(last, 0);
			this.#down(last);
		}
		return top ?? null;
	}

	moved(node: Node): void {
		this.#up(node);
		this.#down(node);
	}

	#put(node: Node, at: number): void {
		node.at = at;
		this.#nodes[at] = node;
	}

	#up(node: Node): void {
		for (;;) {
			const parent = this.#nodes[(node.at - 1) >> 1];
			if (node.at === 0 || !parent || parent.area <= node.area) return;
			const { at } = node;
			this.#put(node, parent.at);
			this.#put(parent, at);
		}
	}

	#down(node: Node): void {
		for (;;) {
			const [left, right] = [this.#nodes[2 * node.at + 1], this.#nodes[2 * node.at + 2]];
			const child = right && left && right.area < left.area ? right : left;
			if (!child || child.area >= node.area) return;
			const { at } = node;
			this.#put(node, child.at);
			this.#put(child, at);
		}
	}
}

/**
 * @param areaOf size of a triangle, weighted as the caller likes
 * @returns for each point the size with which it goes; Infinity for the ends
 */
export function weigh(points: readonly Point[], areaOf: (a: Point, b: Point, c: Point) => number): number[] {
	const weights = points.map(() => Infinity);
	const nodes = points.map((_point, index): Node => ({
		index,
		area: Infinity,
		before: null,
		after: null,
		at: 0
	}));
	const heap = new Heap();
	const measure = ({ before, index, after }: Node): number => {
		const [a, b, c] = [before && points[before.index], points[index], after && points[after.index]];
		return a && b && c ? areaOf(a, b, c) : Infinity;
	};
	nodes.forEach((node, index) => {
		node.before = nodes[index - 1] ?? null;
		node.after = nodes[index + 1] ?? null;
		node.area = measure(node);
		if (node.before && node.after) heap.push(node);
	});
	let most = 0;
	for (let node = heap.pop(); node; node = heap.pop()) {
		most = Math.max(most, node.area);
		weights[node.index] = most;
		const { before, after } = node;
		if (before) before.after = after;
		if (after) after.before = before;
		for (const neighbour of [before, after]) {
			if (!neighbour?.before || !neighbour.after) continue;
			neighbour.area = Math.max(measure(neighbour), most);
			heap.moved(neighbour);
		}
	}
	return weights;
}
