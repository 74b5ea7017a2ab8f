/**
 * Remembers which per-client passwords each device was offered. A device that asks again without having joined is offered
 * the least recently offered ones first, so that every password comes up. In memory only: a new process starts over.
 */
export interface Offers {
	/**
	 * Orders passes for a device.
	 * @param own passes of this device, the likeliest first
	 * @param others other passes with a free slot, the likeliest first
	 */
	ordered(device: Asking, own: readonly number[], others: readonly number[], now: number): number[];
	/** Records an offer that left out some passes. */
	offered(device: Asking, passIds: readonly number[], now: number): void;
	/** Records the passwords of an answer. */
	told(device: Asking, passIds: readonly number[], now: number): void;
	/** The passes of the last answer; null if unknown. */
	lastTold(device: Asking, now: number): readonly number[] | null;
	/** Records that the device has joined: the last offer held its password. */
	cameIn(device: Asking): void;
}

export interface Asking {
	mac: string;
	routerId: number;
}

interface Memory {
	at: number;
	/** Offers since the device last joined. */
	count: number;
	/** By pass id: number of the last offer that held it. */
	lastIn: Map<number, number>;
	last: readonly number[];
	/** The offer with which the device last joined. */
	good: readonly number[];
}

/** Remembered devices; the least recent one is dropped first. */
const MAX_DEVICES = 2_000;
const REMEMBERED_MS = 30 * 60_000;

export function createOffers(): Offers {
	const known = new Map<string, Memory>();
	const lately = new Map<string, { at: number; passIds: readonly number[] }>();
	const keyOf = ({ mac, routerId }: Asking) => `${routerId} ${mac}`;

	function memoryOf(device: Asking, now: number): Memory | null {
		const memory = known.get(keyOf(device));
		return memory && Math.abs(now - memory.at) < REMEMBERED_MS ? memory : null;
	}

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
