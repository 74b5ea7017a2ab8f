/**
 * Which passwords each device was offered, and whether it came in with one: who asks again without having come in is
 * offered those first that it was not offered for longest, so that after enough tries each password comes up. Kept in
 * memory: another process, or a new one, begins with the likeliest again.
 */
export interface Offers {
	/**
	 * Puts passes into the order in which a device is to be offered them.
	 * @param own those that it is known by, the likeliest first
	 * @param others all others that it may be offered, likewise
	 * @param now epoch milliseconds
	 */
	ordered(device: Asking, own: readonly number[], others: readonly number[], now: number): number[];
	/** It is being offered these. */
	offered(device: Asking, passIds: readonly number[], now: number): void;
	/** What it is told in the end, whether or not there was more. */
	told(device: Asking, passIds: readonly number[], now: number): void;
	/** What it was told last; null where that is not known. */
	lastTold(device: Asking, now: number): readonly number[] | null;
	/** It is on the network: what it was offered last had its password. */
	cameIn(device: Asking): void;
}

export interface Asking {
	mac: string;
	routerId: number;
}

interface Memory {
	at: number;
	/** Offers so far that did not let it in. */
	count: number;
	/** By pass: the last of these offers in which it was. */
	lastIn: Map<number, number>;
	last: readonly number[];
	/** One of these let it in the last time. */
	good: readonly number[];
}

/** Devices that are remembered; one more, and the one that asked longest ago begins anew. */
const MAX_DEVICES = 2_000;
/** Who has not asked for so long begins anew. */
const REMEMBERED_MS = 30 * 60_000;

export function createOffers(): Offers {
	/** Asked longest ago first. */
	const known = new Map<string, Memory>();
	const lately = new Map<string, { at: number; passIds: readonly number[] }>();
	const keyOf = ({ mac, routerId }: Asking) => `${routerId} ${mac}`;

	function memoryOf(device: Asking, now: number): Memory | null {
		const memory = known.get(keyOf(device));
		return memory && Math.abs(now - memory.at) < REMEMBERED_MS ? memory : null;
	}

	/** The newest is the last; beyond MAX_DEVICES the oldest goes. */
	function keep<T>(map: Map<string, T>, device: Asking, value: T): void {
		const key = keyOf(device);
		map.delete(key);
		map.set(key, value);
		const [oldest] = map.keys();
		if (oldest !== undefined && map.size > MAX_DEVICES) map.delete(oldest);
	}

	return {
		ordered(device, own, others, now) {
			const memory = memoryOf(device, now);
			if (!memory) return [...own, ...others];
			const may = new Set(others);
			const likely = new Set([...own, ...memory.good.filter((id) => may.has(id)), ...others]);
			const age = (id: number) => memory.lastIn.get(id) ?? 0;
			return [...likely].sort((a, b) => age(a) - age(b));
		},
		offered(device, passIds, now) {
			const memory = memoryOf(device, now);
			const count = (memory?.count ?? 0) + 1;
			const lastIn = new Map(memory?.lastIn);
			for (const id of passIds) lastIn.set(id, count);
			keep(known, device, { at: now, count, lastIn, last: passIds, good: memory?.good ?? [] });
		},
		told: (device, passIds, now) => keep(lately, device, { at: now, passIds }),
		lastTold(device, now) {
			const told = lately.get(keyOf(device));
			return told && Math.abs(now - told.at) < REMEMBERED_MS ? told.passIds : null;
		},
		cameIn(device) {
			const memory = known.get(keyOf(device));
			if (memory) {
				known.set(keyOf(device), { ...memory, count: 0, lastIn: new Map(), good: memory.last });
			}
		}
	};
}
