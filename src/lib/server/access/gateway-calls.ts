import { Unavailable } from '../gateways/gateway.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { AccessServices, AccessWriter } from './provisioning.ts';
import * as store from './grants.ts';
import type { Base } from '../base.ts';
import { recordStatus } from '#lib/server/gateways/health/record-status.ts';

export const MAX_BACKOFF_MS = 60_000;

/** Calls a gateway. Returns Unavailable if the adapter throws. */
export const tryCall = <T>(
	{ log }: AccessServices,
	gateway: RegisteredGateway,
	work: () => Promise<T>
): Promise<T | Unavailable> =>
	work().catch((error: unknown) => {
		if (error instanceof Unavailable) return error;
		log.error({ err: error, gateway: gateway.name }, 'a gateway adapter failed');
		return new Unavailable('An error of ours; see the log.');
	});

/** Calls a gateway to change it; stores that it answered, or its error. */
export async function callGateway<T>(
	context: AccessServices,
	gateway: RegisteredGateway,
	work: () => Promise<T>
): Promise<T | Unavailable> {
	const result = await tryCall(context, gateway, work);
	await recordStatus(context.gateways, gateway, {
		...(!(result instanceof Unavailable) && result !== 'impossible' && { seen: true }),
		trouble: result instanceof Unavailable ? result.message : null
	});
	return result;
}

/** Calls an unresponsive gateway often only while a buyer waits. */
export const computeBackoffMs = (
	{ attempts }: store.GrantRow,
	{ unresponsiveSince }: RegisteredGateway,
	isAwaited: boolean
): number => (unresponsiveSince !== null && !isAwaited ? MAX_BACKOFF_MS : computeExponentialMs(attempts));

export const computeExponentialMs = (attempts: number): number =>
	Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 10));

export async function recordFailure(
	{ database, clock, log }: AccessWriter,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	{ message: reason }: Unavailable
): Promise<void> {
	log.warn({ gateway: gateway.name, grant: grant.id, reason }, 'a gateway could not be called');
	const to = { attempts: grant.attempts + 1, last_error: reason.slice(0, 500), updated_at: clock.now() };
	await database.write((trx) => store.changeOpenGrant(trx, grant.id, to));
}

/**
 * Limits concurrent calls to gateways, in this process.
 *
 * Purpose: a dead gateway holds each call until it times out. Without a limit its jobs fill the shared worker
 * slots, and buyers at healthy gateways wait.
 * Policy: failing gateways get fewer slots. A freed slot wakes a waiting job, a buyer's job first.
 */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

interface Call {
	kind: string;
	id: number;
	gateway: Pick<RegisteredGateway, 'id' | 'trouble' | 'unresponsiveSince'>;
	/** A buyer has paid and waits for this call. */
	isBuyer: boolean;
}

/** Calls to one gateway; the last slots are kept for buyers. */
const AT_ONE = { buyer: 8, other: 6 };
/** Calls to a gateway whose last call failed, or that does not respond. */
const AT_TROUBLED = { buyer: 4, other: 2 };
/** Calls to all such gateways together. */
const MAX_TROUBLED = 6;
/** Calls for which no buyer waits, to all gateways. */
const MAX_OTHERS = 10;
/** Jobs to wake when a slot frees up. Others run again after AGAIN_MS. */
const MAX_WAITING = 1_000;
/** A waiting job runs again after this time at the latest. */
const AGAIN_MS = { buyer: 1_000, other: 15_000 };

const isTroubled = ({ gateway: { trouble, unresponsiveSince } }: Call) =>
	trouble !== null || unresponsiveSince !== null;

export function createConcurrencyLimit({ clock, jobs, log }: Base) {
	const running = new Set<Call>();
	const waiting = new Map<string, Call>();

	function hasRoom(call: Call): boolean {
		const { gateway, isBuyer } = call;
		const all = [...running];
		const who = isBuyer ? 'buyer' : 'other';
		const atGateway = all.filter((one) => one.gateway.id === gateway.id).length;
		if (atGateway >= (isTroubled(call) ? AT_TROUBLED : AT_ONE)[who]) return false;
		if (isTroubled(call) && all.filter(isTroubled).length >= MAX_TROUBLED) return false;
		return isBuyer || all.filter((one) => !one.isBuyer).length < MAX_OTHERS;
	}

	const later = ({ isBuyer }: Call) => clock.now() + AGAIN_MS[isBuyer ? 'buyer' : 'other'];

	async function wakeNext(): Promise<void> {
		const able = [...waiting].filter(([, one]) => hasRoom(one));
		const [key, next] = able.find(([, { isBuyer }]) => isBuyer) ?? able[0] ?? [];
		if (key === undefined || next === undefined) return;
		waiting.delete(key);
		await jobs.wake(next.kind, next.id).catch((error: unknown) => {
			log.warn({ err: error, job: next.kind }, 'could not wake a job that waited for a slot');
		});
	}

	return {
		/** Runs the work if a slot is free. @returns when to run again, or null when the job is over */
		async run(call: Call, work: () => Promise<number | null>): Promise<number | null> {
			const key = `${call.kind} ${call.id}`;
			if (!hasRoom(call)) {
				if (waiting.size < MAX_WAITING) waiting.set(key, call);
				return later(call);
			}
			waiting.delete(key);
			running.add(call);
			try {
				return await jobs.withoutSlot(`gateway ${call.gateway.id}`, work, later(call));
			} finally {
				running.delete(call);
				await wakeNext();
			}
		}
	};
}
