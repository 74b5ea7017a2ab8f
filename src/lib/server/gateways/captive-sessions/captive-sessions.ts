import type { DeviceState } from '#lib/server/access/device-slots/device-state.ts';
import type { Database } from '#lib/server/db/database.ts';
import { binder } from '#lib/server/platform/bind.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import type { RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';
import { bindPurchase, moveToPurchase } from './bind-purchase.ts';
import { earlierPurchase, purchaseOnlineAt } from './find-purchase.ts';
import { finishSignIn, purchaseDevice } from './purchase-device.ts';
import { enter, findCaptiveSession, loginOf, newestLogins } from './record.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';

export type { CaptiveSession } from './record.ts';
export type { PurchaseAt, PurchaseDevice } from './purchase-device.ts';

/** The calls to access/. Purchases are identified by the SHA-256 of their token. */
export interface CaptiveSessionAccess {
	/** A purchase was bound. @param isIn the gateway says that the device is online already */
	bound(tokenHash: string, isIn: boolean): Promise<void>;
	/** The state of a device at a gateway that controls devices; null if nothing is known. */
	stateOf(tokenHash: string, device: { gatewayId: number; mac: string | null }): Promise<DeviceState | null>;
	move(tokenHash: string): Promise<boolean>;
}

export interface CaptiveSessionsContext {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	access: CaptiveSessionAccess;
}

export type CaptiveSessions = ReturnType<typeof createCaptiveSessions>;

/**
 * Captive sessions: redirects of gateways, one row per redirect.
 *
 * A random id in the URL names the row, because mini-browsers drop cookies. A purchase is bound to the captive sessions
 * in which it was made or opened; the newest one is the device that it lets online. The content is unverified: only the
 * gateway decides whether a sign-in is right.
 */
export function createCaptiveSessions(context: CaptiveSessionsContext) {
	const bind = binder(context);
	return {
		enter: bind(enter),
		find: bind(findCaptiveSession),
		bind: bind(bindPurchase),
		loginOf: bind(loginOf),
		/** Gives the device slot of a purchase to the device on which it was last opened. Returns false if there is none. */
		move: (purchaseToken: string) => context.access.move(sha256(purchaseToken)),
		carry: bind(moveToPurchase),
		ofPurchase: bind(purchaseDevice),
		finish: bind(finishSignIn),
		earlierPurchase: bind(earlierPurchase),
		onlineAt: bind(purchaseOnlineAt),
		/** URL that makes the gateway redirect again; null if only the operating system's probes do. */
		startAddress: (gateway: RegisteredGateway) => adapterOf(gateway.kind).startAddress(gateway),
		/** Whether the gateway lets online only devices that we name, so that a purchase without a device has no effect. */
		needsDevice(gateway: RegisteredGateway): boolean {
			const { controlMode, controller } = adapterOf(gateway.kind);
			const mode = controlMode(gateway);
			return mode === 'poll' || (mode === 'push' && controller?.subject === 'device');
		},
		newestLogins: bind(newestLogins)
	};
}
