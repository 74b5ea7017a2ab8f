import type { Base } from '#lib/server/base.ts';
import type { RegisteredGateway } from '../gateway-record.ts';
import { Unavailable, type Entry, type GatewayTransport } from '../gateway.ts';
import { adapterOf } from '../registry.ts';

/** A device waits for its splash page. Without an answer in time, the page is as for any device. */
const TIMEOUT_MS = 1_000;
/** After a late or failed answer, so that the next pages do not wait, too. */
const PAUSE_MS = 30_000;
/** Calls at a time to one gateway, which should have time for those that let buyers in. */
const MAX_CALLS = 2;

export type SeenDevices = ReturnType<typeof createSeenDevices>;

/**
 * Asks gateways whether the device of a redirect is on their network now. A redirect alone proves nothing, because anyone
 * can write a MAC address. But who gets this answer knows the MAC and IP address of a device that is there, and sees its
 * traffic anyway.
 */
export function createSeenDevices({ log }: Pick<Base, 'log'>, transport: GatewayTransport) {
	const calls = new Map<number, number>();
	const pausedUntil = new Map<number, number>();

	async function ask(gateway: RegisteredGateway, entry: Entry, limit: AbortSignal): Promise<boolean> {
		const { controller } = adapterOf(gateway.kind);
		if (!controller?.sees || entry.clientMac === null) return false;
		// A late answer leads to no further call.
		const limited: GatewayTransport = {
			...transport,
			send: (...call) => (limit.throwIfAborted(), transport.send(...call))
		};
		return controller.sees({ mac: entry.clientMac, ip: entry.clientIp }, gateway, limited);
	}

	return {
		/** Returns false if the gateway cannot be asked, does not answer in time, or does not know the device. */
		async sees(gateway: RegisteredGateway, entry: Entry): Promise<boolean> {
			const { id, mode, unreadable, unresponsiveSince } = gateway;
			const running = calls.get(id) ?? 0;
			const isPaused = (pausedUntil.get(id) ?? 0) > performance.now();
			if (mode !== 'push' || unreadable.length > 0 || unresponsiveSince !== null) return false;
			if (isPaused || running >= MAX_CALLS) return false;
			const limit = AbortSignal.timeout(TIMEOUT_MS);
			const pause = () => void pausedUntil.set(id, performance.now() + PAUSE_MS);
			let isAnswered = false;
			const late = new Promise<false>((resolve) => {
				limit.addEventListener('abort', () => {
					if (!isAnswered) pause();
					resolve(false);
				});
			});
			calls.set(id, running + 1);
			const answer = ask(gateway, entry, limit)
				.catch((error: unknown) => {
					if (!(error instanceof Unavailable) && !limit.aborted) {
						log.error({ err: error, gateway: gateway.name }, 'gateway adapter failed');
					}
					pause();
					return false;
				})
				.finally(() => {
					isAnswered = true;
					calls.set(id, (calls.get(id) ?? 1) - 1);
				});
			return Promise.race([answer, late]);
		}
	};
}
