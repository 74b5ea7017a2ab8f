import type { Reach, CommandResult } from '#lib/server/gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { Log } from '#lib/server/platform/log.ts';

export interface AskingParts {
	gateways: Gateways;
	log: Log;
	reach: Reach;
}

/** A Date header is cut to whole seconds: on average it is half of one behind. */
const HALF_SECOND_MS = 500;

/**
 * Tells a gateway something, and notes what that shows of it: that it is there, its clock, its trouble. An adapter that
 * fails is a gateway that could not be told.
 */
export async function askGateway(
	{ gateways, log, reach }: AskingParts,
	gateway: RegisteredGateway,
	work: (reach: Reach) => Promise<CommandResult>
): Promise<CommandResult> {
	let clockOffsetMs: number | null = null;
	const send: Reach['send'] = async (outgoing, certificate) => {
		const sentAt = reach.now();
		const outcome = await reach.send(outgoing, certificate);
		if (outcome.kind === 'answer') {
			clockOffsetMs = dateOffsetMs(outcome.headers['date'], (sentAt + reach.now()) / 2) ?? clockOffsetMs;
		}
		return outcome;
	};
	let told: CommandResult;
	try {
		told = await work({ ...reach, send });
	} catch (error) {
		log.error({ err: error, gateway: gateway.name }, 'a gateway adapter failed');
		told = { kind: 'unavailable', reason: 'An error of ours; see the log.' };
	}
	await gateways.recordStatus(gateway.id, {
		...(told.kind === 'done' && { seen: true }),
		...(clockOffsetMs !== null && { clockOffsetMs }),
		trouble: told.kind === 'unavailable' ? told.reason : null
	});
	return told;
}

/** How far a Date header is ahead of our clock; null when there is none that can be read. */
export function dateOffsetMs(header: string | undefined, now: number): number | null {
	const told = Date.parse(header ?? '');
	return Number.isNaN(told) ? null : told + HALF_SECOND_MS - now;
}
