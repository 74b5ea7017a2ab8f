import type { Clock } from '#lib/server/platform/clock.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Log } from '#lib/server/platform/log.ts';

/**
 * How many jobs of this process may ask gateways at a time. A gateway that is off holds each of them until its question
 * times out, and all kinds of jobs share the same few slots (MAX_RUNNING in jobs/jobs.ts): buyers at other gateways would
 * wait for one that is dead. Who has no turn comes back when one is free, buyers first.
 */
export interface ConcurrencyLimit {
	/** Does the work of a job, if it has a turn. @returns when to look again, or null when it is over */
	run(asker: Asker, work: () => Promise<number | null>): Promise<number | null>;
}

export interface Asker {
	/** The job, by its kind and subject. */
	kind: string;
	id: number;
	gateway: Pick<RegisteredGateway, 'id' | 'trouble' | 'unresponsiveSince'>;
	/** A buyer has paid and waits for it. */
	isBuyer: boolean;
}

export interface ConcurrencyLimitParts {
	clock: Clock;
	jobs: Jobs;
	log: Log;
}

/** Questions at one gateway; the last ones are kept for buyers. */
const AT_ONE = { buyer: 8, other: 6 };
/** The same at one that could last not be told something, or is silent. */
const AT_TROUBLED = { buyer: 4, other: 2 };
/** At all of those together. */
const MAX_TROUBLED = 6;
/** At all gateways, but for buyers. */
const MAX_OTHERS = 10;
/** Jobs that are woken when there is a turn; more come back by themselves. */
const MAX_WAITING = 1_000;
/** When they come back where nobody wakes them. */
const AGAIN_MS = { buyer: 1_000, other: 15_000 };

interface Turn extends Asker {
	isTroubled: boolean;
}

export function createConcurrencyLimit({ clock, jobs, log }: ConcurrencyLimitParts): ConcurrencyLimit {
	const running = new Set<Turn>();
	const waiting = new Map<string, Turn>();

	function hasRoom({ gateway, isBuyer, isTroubled }: Turn): boolean {
		const all = [...running];
		const who = isBuyer ? 'buyer' : 'other';
		const atGateway = all.filter((turn) => turn.gateway.id === gateway.id).length;
		if (atGateway >= (isTroubled ? AT_TROUBLED : AT_ONE)[who]) return false;
		if (isTroubled && all.filter((turn) => turn.isTroubled).length >= MAX_TROUBLED) return false;
		return isBuyer || all.filter((turn) => !turn.isBuyer).length < MAX_OTHERS;
	}

	async function wakeNext(): Promise<void> {
		const able = [...waiting].filter(([, turn]) => hasRoom(turn));
		const [key, next] = able.find(([, { isBuyer }]) => isBuyer) ?? able[0] ?? [];
		if (key === undefined || next === undefined) return;
		waiting.delete(key);
		await jobs.wake(next.kind, next.id).catch((error: unknown) => {
			log.warn({ err: error, job: next.kind }, 'a job that waited for its turn could not be woken');
		});
	}

	return {
		async run(asker, work) {
			const { kind, id, gateway, isBuyer } = asker;
			const turn = { ...asker, isTroubled: gateway.trouble !== null || gateway.unresponsiveSince !== null };
			const key = `${kind} ${id}`;
			if (!hasRoom(turn)) {
				if (waiting.size < MAX_WAITING) waiting.set(key, turn);
				return clock.now() + AGAIN_MS[isBuyer ? 'buyer' : 'other'];
			}
			waiting.delete(key);
			running.add(turn);
			try {
				return await work();
			} finally {
				running.delete(turn);
				await wakeNext();
			}
		}
	};
}
