import type { Base } from '#lib/server/base.ts';
import { binder } from '#lib/server/platform/bind.ts';
import type { Entry } from '../gateway.ts';
import { namesDevices, type Gateways, type RegisteredGateway } from '../gateways.ts';
import { startAddress } from '../registry.ts';
import { bindPurchase, moveToPurchase } from './bind-purchase.ts';
import { earlierPurchase, purchaseOnlineAt } from './find-purchase.ts';
import { moveSlots, purchaseDevice, signInUrl } from './purchase-device.ts';
import type { SeenDevices } from './seen-device.ts';
import { enter, enterAgain, findCaptiveSession, isCaptiveSessionId, loginOf } from './record.ts';

export { PAID_DAYS, UNPAID_HOURS } from './lifetime.ts';
export type { CaptiveSession } from './record.ts';

/** Calls to access/, which identifies a purchase by the SHA-256 of its token. */
interface CaptiveSessionAccess {
	/** @param isOnline the gateway reports that the device is already online */
	purchaseOpened(tokenHash: string, isOnline: boolean): Promise<void>;
	/** The gateway redirected the device, and lets it in by its MAC address alone. */
	deviceReturned(device: { gatewayId: number; mac: string }): Promise<void>;
	/** For gateways that control devices. Returns null if nothing is known. */
	stateOf(
		tokenHash: string,
		device: { gatewayId: number; mac: string | null; returnedAt: number | null }
	): Promise<DeviceState | null>;
	move(tokenHash: string): Promise<Moved>;
	/** Whether buyers may rely on this gateway alone. */
	isVerified(gateway: RegisteredGateway): Promise<boolean>;
}

/**
 * The state of a device at its gateway. `connecting`: the gateway is being called, or has sent the device to the portal
 * since it let it in. `delayed`: a call failed. `online`: the gateway confirmed it. `no-free-slot`: other devices hold
 * all slots of the pass.
 */
export type DeviceState = 'connecting' | 'delayed' | 'online' | 'no-free-slot';

/** `unchanged`: the newest device of a pass has it already, after another one. `no_device`: no other device came. */
export type Moved = 'moved' | 'unchanged' | 'no_device' | 'too_soon';

export interface CaptiveSessionsContext extends Base {
	gateways: Pick<Gateways, 'byId' | 'claimsOn'>;
	access: CaptiveSessionAccess;
	seenDevices: SeenDevices;
}

export type CaptiveSessions = ReturnType<typeof createCaptiveSessions>;

/**
 * Captive sessions: one row per redirect from a gateway. The content is unverified: only the gateway decides
 * whether a sign-in is valid.
 *
 * A random id in the URL names the row, because mini-browsers drop cookies. A purchase is bound to the
 * captive sessions that made or opened it. The address of its page names the device that reads it.
 */
export function createCaptiveSessions(context: CaptiveSessionsContext) {
	const bind = binder(context);
	return {
		enter: bind(enter),
		enterAgain: bind(enterAgain),
		find: bind(findCaptiveSession),
		/** Whether the text can be the id of a captive session, which may have expired. */
		isId: isCaptiveSessionId,
		bindPurchase: bind(bindPurchase),
		loginOf: bind(loginOf),
		moveSlots: bind(moveSlots),
		moveToPurchase: bind(moveToPurchase),
		ofPurchase: bind(purchaseDevice),
		signInUrl: bind(signInUrl),
		earlierPurchase: bind(earlierPurchase),
		onlineAt: bind(purchaseOnlineAt),
		/**
		 * Another gateway of the router may respond, but it cannot connect devices here.
		 * @param entry the redirect of the buyer's device
		 */
		async sellsAt(gateway: RegisteredGateway, entry: Entry | null): Promise<boolean> {
			if (gateway.unresponsiveSince !== null || !(await context.access.isVerified(gateway))) return false;
			const { accessPoint } = entry?.login ?? {};
			const claims = await context.gateways.claimsOn(
				gateway,
				accessPoint === undefined ? undefined : [accessPoint]
			);
			return claims.length === 0;
		},
		startAddress,
		needsDevice: namesDevices
	};
}
