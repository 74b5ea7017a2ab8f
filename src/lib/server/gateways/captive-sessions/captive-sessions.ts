import type { DeviceState } from '#lib/server/access/device-slots/device-state.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import type { Entry, EntryRequest, Finish, PassLogin, RefusalReason } from '../gateway.ts';
import type { RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';
import { bindPurchase, moveToPurchase } from './bind-purchase.ts';
import { earlierPurchase, purchaseOnlineAt } from './find-purchase.ts';
import { finishSignIn, purchaseDevice, type PurchaseAt, type PurchaseDevice } from './purchase-device.ts';
import { enter, findCaptiveSession, loginOf, newestLogins, type CaptiveSession } from './record.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';

export type { CaptiveSession } from './record.ts';
export type { PurchaseAt, PurchaseDevice } from './purchase-device.ts';

/**
 * Captive sessions: redirects of gateways, one row per redirect.
 *
 * A random id in the URL names the row, because mini-browsers drop cookies. A purchase is bound to the captive sessions
 * in which it was made or opened; the newest one is the device that it lets online. The content is unverified: only the
 * gateway decides whether a sign-in is right.
 */
export interface CaptiveSessions {
	/** Reads a redirect and stores it. */
	enter(
		gateway: RegisteredGateway,
		request: EntryRequest
	): Promise<CaptiveSession | { refused: RefusalReason }>;
	find(gateway: RegisteredGateway, id: string): Promise<CaptiveSession | null>;
	/** Binds a purchase that was made or opened in a captive session. Returns false if the session does not exist. */
	bind(id: string, purchaseToken: string): Promise<boolean>;
	/** The login data of a captive session, by its row id; empty if it has expired. */
	loginOf(rowId: number): Promise<Entry['login']>;
	/** Gives the device slot of a purchase to the device on which it was last opened. Returns false if there is none. */
	move(purchaseToken: string): Promise<boolean>;
	/** Moves the captive sessions of a purchase to the one that replaced it. */
	carry(fromToken: string, toToken: string): Promise<void>;
	/** The device that a purchase lets online; null if it was never opened behind a gateway. */
	ofPurchase(purchase: PurchaseAt): Promise<PurchaseDevice | null>;
	/** The URL at which the browser signs in at the gateway, and marks it as tried; null if there is none. */
	finish(purchase: PurchaseAt, login: PassLogin): Promise<Finish | null>;
	/** SHA-256 of the token of the last purchase that the device made at this gateway. */
	earlierPurchase(gateway: RegisteredGateway, clientMac: string | null): Promise<string | null>;
	/** See purchaseOnlineAt. */
	onlineAt(gateway: RegisteredGateway, address: string): Promise<string | null>;
	/** URL that makes the gateway redirect again; null if only the operating system's probes do. */
	startAddress(gateway: RegisteredGateway): string | null;
	/** Whether the gateway lets online only devices that we name, so that a purchase without a device has no effect. */
	needsDevice(gateway: RegisteredGateway): boolean;
	/** Login data of the newest captive sessions of a gateway, with and without a purchase. */
	newestLogins(gateway: RegisteredGateway): Promise<Entry['login'][]>;
}

/** The calls to access/. Purchases are identified by the SHA-256 of their token. */
export interface CaptiveSessionAccess {
	/** A purchase was bound. @param isIn the gateway says that the device is online already */
	bound(tokenHash: string, isIn: boolean): Promise<void>;
	/** The state of a device at a gateway that controls devices; null if nothing is known. */
	stateOf(tokenHash: string, device: { gatewayId: number; mac: string | null }): Promise<DeviceState | null>;
	/** See CaptiveSessions.move. */
	move(tokenHash: string): Promise<boolean>;
}

export interface CaptiveSessionsContext {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	access: CaptiveSessionAccess;
}

export function createCaptiveSessions(context: CaptiveSessionsContext): CaptiveSessions {
	return {
		enter: (gateway, request) => enter(context, gateway, request),
		find: (gateway, id) => findCaptiveSession(context, gateway, id),
		bind: (id, purchaseToken) => bindPurchase(context, id, purchaseToken),
		loginOf: (rowId) => loginOf(context, rowId),
		move: (purchaseToken) => context.access.move(sha256(purchaseToken)),
		carry: (fromToken, toToken) => moveToPurchase(context, fromToken, toToken),
		ofPurchase: (purchase) => purchaseDevice(context, purchase),
		finish: (purchase, login) => finishSignIn(context, purchase, login),
		earlierPurchase: (gateway, clientMac) => earlierPurchase(context, gateway, clientMac),
		onlineAt: (gateway, address) => purchaseOnlineAt(context, gateway, address),
		startAddress: (gateway) => adapterOf(gateway.kind).startAddress(gateway),
		needsDevice(gateway) {
			const { controlMode, controller } = adapterOf(gateway.kind);
			const mode = controlMode(gateway);
			return mode === 'poll' || (mode === 'push' && controller?.subject === 'device');
		},
		newestLogins: (gateway) => newestLogins(context, gateway)
	};
}
