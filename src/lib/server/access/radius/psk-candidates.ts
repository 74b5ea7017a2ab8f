export interface Asking {
	mac: string;
	routerId: number;
}

interface Memory {
	at: number;
	/** By pass id: number of its last incomplete offer since the device last joined. */
	tried: ReadonlyMap<number, number>;
	last: readonly number[];
	/** The offer with which the device last joined. */
	good: readonly number[];
}

const MAX_DEVICES = 2_000;
const REMEMBERED_MS = 30 * 60_000;

export type PskCandidates = ReturnType<typeof createPskCandidates>;

/**
 * Remembers the per-client passwords offered to each device, in memory only. A device that asks again without
 * joining is offered the least recent ones first, so that every password comes up.
 */
export function createPskCandidates() {
	const known = new Map<string, Memory>();
	const keyOf = ({ mac, routerId }: Asking) => `${routerId} ${mac}`;

	function recall(device: Asking, now: number): Memory | null {
		const memory = known.get(keyOf(device));
		return memory && Math.abs(now - memory.at) < REMEMBERED_MS ? memory : null;
	}

	function leastNeeded(): string {
		const entries = [...known];
		return (entries.find(([, { tried }]) => tried.size === 0) ?? entries[0])?.[0] ?? '';
	}

	return {
		/** Both lists begin with the likeliest pass. The `others` have a free slot. */
		ordered(device: Asking, own: readonly number[], others: readonly number[], now: number): number[] {
			const memory = recall(device, now);
			if (!memory) return [...own, ...others];
			const may = new Set(others);
			const likely = new Set([...own, ...memory.good.filter((id) => may.has(id)), ...others]);
			// All passes of one offer are equally old, so the likeliest of them stays first.
			const age = (id: number) => memory.tried.get(id) ?? 0;
			return [...likely].sort((a, b) => age(a) - age(b));
		},
		/** @param isPart the answer left out some passes */
		offered(device: Asking, passIds: readonly number[], isPart: boolean, now: number): void {
			const { tried, good } = recall(device, now) ?? { tried: new Map<number, number>(), good: [] };
			const number = Math.max(0, ...tried.values()) + 1;
			const later = isPart ? new Map([...tried, ...passIds.map((id) => [id, number] as const)]) : tried;
			const key = keyOf(device);
			known.delete(key);
			known.set(key, { at: now, tried: later, last: passIds, good });
			if (known.size > MAX_DEVICES) known.delete(leastNeeded());
		},
		lastOffered: (device: Asking, now: number): readonly number[] => recall(device, now)?.last ?? [],
		/** Records that the device has joined: the last offer held its password. */
		joined(device: Asking): void {
			const memory = known.get(keyOf(device));
			if (memory) known.set(keyOf(device), { ...memory, tried: new Map(), good: memory.last });
		}
	};
}
