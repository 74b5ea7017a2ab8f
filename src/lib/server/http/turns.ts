import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Which request works next. One thread does all the work, so a request that begins makes all others wait: without
 * turns, a thousand requests of one source are a thousand places in front of everybody.
 *
 * - Requests begin one after another. Between two, the process reads what has arrived meanwhile.
 * - Networks take turns, and within one its addresses, devices and connections do (`path`): all guests of a venue may
 *   share one address. A network has few requests at work at a time.
 * - Purchases, the API and gateways begin before other pages, which still get every fourth turn.
 * - A request that waits for something else (the rest of its body, a change of a payment) gives its place back
 *   (`waitOutside`), and takes a turn again before it goes on.
 * - What waits has a limit. Above it the newest request of whoever has most is refused.
 */

export interface Limits {
	/** Requests at work at a time, of one network and of all. */
	ofNetwork: number;
	ofAll: number;
	/** Requests that wait for their first turn, of one network and of all, in each lane. */
	waitingOfNetwork: number;
	waitingOfAll: number;
	/** A request that is at work for longer waits for something that we do not know, and gives its place back. */
	longestMs: number;
}

export const LIMITS: Limits = {
	ofNetwork: 8,
	ofAll: 24,
	waitingOfNetwork: 500,
	waitingOfAll: 4_000,
	longestMs: 2_000
};

/** After so many turns of the first lane, the other one has a turn. */
const FIRST_IN_A_ROW = 3;

export interface Arrival {
	/** Who takes turns: the network, then the parts of it, from the largest to the connection. */
	path: readonly [network: string, ...parts: string[]];
	/** A purchase, a call of the API, or a gateway. */
	isFirst: boolean;
	/** The network is a proxy that hides many: only the limits of all count for it. */
	hidesMany: boolean;
	start(): void;
	refuse(): void;
}

interface Visit {
	/** The work is done, or nobody waits for it any more. */
	leave(): void;
}

/** A request that waits for a turn. */
interface Waiting {
	path: Arrival['path'];
	mayBeRefused: boolean;
	hidesMany: boolean;
	begin(): void;
	refuse(): void;
}

/** Those who wait, as a tree: networks, their parts, connections. The first of `parts` and of `waiting` is next. */
interface Line {
	parts: Map<string, Line>;
	waiting: Set<Waiting>;
	count: number;
}

const newLine = (): Line => ({ parts: new Map(), waiting: new Set(), count: 0 });

interface Place {
	wait<T>(work: Promise<T>): Promise<T>;
}

const current = new AsyncLocalStorage<Place>();

/** Waits for something that takes no work of this process. Meanwhile the request that runs here has no place. */
export const waitOutside = <T>(work: Promise<T>): Promise<T> => current.getStore()?.wait(work) ?? work;

export type Turns = ReturnType<typeof createTurns>;

export function createTurns(limits: Limits = LIMITS) {
	const lanes = { first: newLine(), rest: newLine() };
	const atWork = new Map<string, number>();
	let allAtWork = 0;
	let firstInARow = 0;
	let isTurnTaken = false;

	function isFree({ path, hidesMany }: Pick<Waiting, 'path' | 'hidesMany'>): boolean {
		const most = hidesMany ? limits.ofAll : limits.ofNetwork;
		return allAtWork < limits.ofAll && (atWork.get(path[0]) ?? 0) < most;
	}

	function count(network: string, change: 1 | -1): void {
		allAtWork += change;
		const number = (atWork.get(network) ?? 0) + change;
		if (number === 0) atWork.delete(network);
		else atWork.set(network, number);
	}

	/** The next turn comes when the process has read what arrived meanwhile. */
	function takeTurn(): void {
		isTurnTaken = true;
		setImmediate(() => {
			isTurnTaken = false;
			const next = takeNext();
			if (!next) return;
			takeTurn();
			next.begin();
		});
	}

	function takeNext(): Waiting | null {
		const order =
			firstInARow < FIRST_IN_A_ROW
				? ([lanes.first, lanes.rest] as const)
				: ([lanes.rest, lanes.first] as const);
		for (const lane of order) {
			const next = takeFrom(lane);
			if (!next) continue;
			firstInARow = lane === lanes.first ? firstInARow + 1 : 0;
			return next;
		}
		return null;
	}

	function takeFrom(lane: Line): Waiting | null {
		if (allAtWork >= limits.ofAll) return null;
		for (const network of lane.parts.values()) {
			const next = nextOf(network);
			if (!isFree(next)) continue;
			remove(lane, next);
			moveBack(lane, next.path);
			return next;
		}
		return null;
	}

	function enter(lane: Line, waiting: Waiting): void {
		if (waiting.mayBeRefused) {
			const network = lane.parts.get(waiting.path[0]);
			const most = waiting.hidesMany ? limits.waitingOfAll : limits.waitingOfNetwork;
			add(lane, waiting);
			if (network && network.count > most) refuseFrom(lane, network);
			else if (lane.count > limits.waitingOfAll) refuseFrom(lane, lane);
		} else {
			add(lane, waiting);
		}
		if (!isTurnTaken) takeTurn();
	}

	function refuseFrom(lane: Line, line: Line): void {
		const refused = newestOfLargest(line);
		if (!refused) return;
		remove(lane, refused);
		refused.refuse();
	}

	return {
		/** Calls `start` when it is the turn of the request, or `refuse` if too many wait. */
		arrive(arrival: Arrival): Visit {
			const lane = arrival.isFirst ? lanes.first : lanes.rest;
			const { path, hidesMany } = arrival;
			const [network] = path;
			/** The number of things for which it waits outside. */
			let outside = 0;
			let hasPlace = false;
			let isOver = false;
			let entry: Waiting | null = null;
			let limit: NodeJS.Timeout | undefined;

			function takePlace(): void {
				entry = null;
				hasPlace = true;
				count(network, 1);
				limit = setTimeout(giveBack, limits.longestMs).unref();
			}
			function giveBack(): void {
				if (!hasPlace) return;
				hasPlace = false;
				clearTimeout(limit);
				count(network, -1);
				if (!isTurnTaken && lanes.first.count + lanes.rest.count > 0) takeTurn();
			}
			const place: Place = {
				async wait(work) {
					outside += 1;
					giveBack();
					try {
						return await work;
					} finally {
						outside -= 1;
						if (outside === 0 && !isOver && !hasPlace) await nextTurn();
					}
				}
			};
			const nextTurn = (): Promise<void> =>
				new Promise((resolve) => {
					const begin = (): void => {
						if (!isOver) takePlace();
						resolve();
					};
					entry = { path, hidesMany, mayBeRefused: false, begin, refuse: resolve };
					enter(lane, entry);
				});
			function start(): void {
				takePlace();
				current.run(place, arrival.start);
			}

			if (!isTurnTaken && lane.count === 0 && isFree(arrival)) {
				takeTurn();
				start();
			} else {
				entry = { path, hidesMany, mayBeRefused: true, begin: start, refuse: arrival.refuse };
				enter(lane, entry);
			}
			return {
				leave() {
					isOver = true;
					giveBack();
					// What has begun goes on to its end.
					if (entry?.mayBeRefused) remove(lane, entry);
				}
			};
		}
	};
}

function add(lane: Line, waiting: Waiting): void {
	let line = lane;
	line.count += 1;
	for (const part of waiting.path) {
		let next = line.parts.get(part);
		if (!next) line.parts.set(part, (next = newLine()));
		line = next;
		line.count += 1;
	}
	line.waiting.add(waiting);
}

function remove(lane: Line, waiting: Waiting): void {
	const lines = linesOf(lane, waiting.path);
	if (!lines.at(-1)?.waiting.delete(waiting)) return;
	for (const [depth, line] of lines.entries()) {
		line.count -= 1;
		const part = waiting.path[depth - 1];
		if (line.count === 0 && part !== undefined) lines[depth - 1]?.parts.delete(part);
	}
}

/** Whoever has had a turn is the last to get the next one. */
function moveBack(lane: Line, path: readonly string[]): void {
	let line = lane;
	for (const part of path) {
		const next = line.parts.get(part);
		if (!next) return;
		line.parts.delete(part);
		line.parts.set(part, next);
		line = next;
	}
}

/** @returns the lines from the whole lane to the connection, as far as there are any */
function linesOf(lane: Line, path: readonly string[]): Line[] {
	const lines = [lane];
	for (const part of path) {
		const next = lines.at(-1)?.parts.get(part);
		if (!next) break;
		lines.push(next);
	}
	return lines;
}

function nextOf(line: Line): Waiting {
	for (const waiting of line.waiting) return waiting;
	for (const part of line.parts.values()) return nextOf(part);
	throw new Error('A line without anybody is removed');
}

/** What has begun already is never refused. */
function newestOfLargest(line: Line): Waiting | null {
	const newest = [...line.waiting].findLast(({ mayBeRefused }) => mayBeRefused);
	if (newest) return newest;
	const parts = [...line.parts.values()].reverse().sort((one, other) => other.count - one.count);
	for (const part of parts) {
		const found = newestOfLargest(part);
		if (found) return found;
	}
	return null;
}
