import { sha256 } from '#lib/server/platform/secrets.ts';
import { EntryRefused, type Entry, type PassLogin } from '../gateway.ts';
import { signsInBrowser, type RegisteredGateway } from '../gateway-record.ts';
import { adapterOf } from '../registry.ts';
import type { CaptiveSessionsContext, DeviceState } from './captive-sessions.ts';
import { UNPAID_MS } from './lifetime.ts';
import { deviceName, entryOf, returnedAt } from './record.ts';
import * as store from './store.ts';

/** A page of a purchase, as a browser reads it. */
export interface PurchaseReader {
	token: string;
	/** Gateways of other routers never see the purchase's password. */
	routerId: number;
	/** Names the device that reads the page. null: the only one, if there is one; an unknown name: none. */
	device: string | null;
}

export interface PurchaseDevice {
	/** Its newest captive session of the purchase. */
	captiveSessionId: number;
	/** The page can act for it: its address names the device, or no other device has opened the purchase. */
	isReader: boolean;
	gateway: RegisteredGateway;
	entry: Entry;
	/** `navigate`: the browser signs in. `waits`: the gateway connects the device without it. */
	how: 'navigate' | 'waits';
	/** The browser was sent to the gateway in this captive session, or recently in another one of the device. */
	tried: 'here' | 'elsewhere' | null;
	/** It opened the purchase, or was sent to the gateway, in the last ten minutes. */
	isRecent: boolean;
	/** Opened more than UNPAID_HOURS ago, so the gateway may have forgotten the device. */
	isOld: boolean;
	/** null at gateways that do not control devices. */
	deviceState: DeviceState | null;
}

/** Separates automatic sign-ins of a device, so that gateway and portal do not redirect in a circle. */
const SIGN_IN_PAUSE_MS = 10 * 60 * 1000;
const MAX_CAPTIVE_SESSIONS = 50;

/**
 * Returns the device that the page speaks for; null if no device opened the purchase behind a gateway of its router.
 * If the address names none, it is the newest device with a slot, or else the newest one.
 */
export async function purchaseDevice(
	context: CaptiveSessionsContext,
	purchase: PurchaseReader
): Promise<PurchaseDevice | null> {
	const { database, clock } = context;
	const { token, routerId } = purchase;
	const ofPurchase = { tokenHash: sha256(token), routerId };
	const rows = await store.ofPurchase(database.db, ofPurchase, clock.now(), MAX_CAPTIVE_SESSIONS);
	// The rows begin with the newest, so the first one of a device is its newest.
	const devices = rows.filter((row, at) => rows.findIndex((one) => isSameDevice(one, row)) === at);
	const named = rows.find(({ id_hash }) => deviceName(id_hash) === purchase.device);
	const isOnly = purchase.device === null && devices.length === 1;
	const reader = named ? devices.find((row) => isSameDevice(row, named)) : isOnly && devices[0];
	if (reader) return deviceOf(context, purchase, rows, reader, true);
	let newest: PurchaseDevice | null = null;
	for (const row of devices) {
		const device = await deviceOf(context, purchase, rows, row, false);
		if (device && device.deviceState !== 'no-free-slot') return device;
		newest ??= device;
	}
	return newest;
}

const isSameDevice = (one: store.CaptiveSessionRow, other: store.CaptiveSessionRow): boolean =>
	one.client_mac === null ? one.id === other.id : one.client_mac === other.client_mac;

async function deviceOf(
	context: CaptiveSessionsContext,
	{ token }: PurchaseReader,
	rows: readonly store.CaptiveSessionRow[],
	row: store.CaptiveSessionRow,
	isReader: boolean
): Promise<PurchaseDevice | null> {
	const gateway = await context.gateways.byId(row.gateway_id);
	if (!gateway) return null;
	const now = context.clock.now();
	const since = now - SIGN_IN_PAUSE_MS;
	const openedAt = Math.max(row.tried_at ?? 0, row.bound_at ?? 0);
	const ofDevice = rows.filter(({ client_mac: mac }) => mac === row.client_mac);
	const isTried = ofDevice.some(({ tried_at: triedAt }) => triedAt !== null && triedAt > since);
	return {
		captiveSessionId: row.id,
		isReader,
		gateway,
		entry: entryOf(context.secrets, row),
		how: signsInBrowser(gateway) ? 'navigate' : 'waits',
		tried: row.tried_at !== null ? 'here' : isTried ? 'elsewhere' : null,
		isRecent: openedAt > since,
		isOld: openedAt <= now - UNPAID_MS,
		deviceState: await context.access.stateOf(sha256(token), {
			gatewayId: gateway.id,
			mac: row.client_mac,
			returnedAt: await returnedAt(context, gateway, row)
		})
	};
}

/** Returns the URL with which the browser signs in at the gateway, and marks it as tried; null if there is none. */
export async function signInUrl(
	{ database, clock }: CaptiveSessionsContext,
	{ captiveSessionId, gateway, entry, how }: PurchaseDevice,
	login: PassLogin
): Promise<string | null> {
	if (how === 'waits') return null;
	// Also if there is no address: the page would try again and again.
	await store.update(database.db, captiveSessionId, { tried_at: clock.now() });
	try {
		return adapterOf(gateway.kind).signInUrl?.(entry, login, gateway) ?? null;
	} catch (error) {
		if (error instanceof EntryRefused) return null;
		throw error;
	}
}

/**
 * Moves the slots to the device that reads the page; a page that names none moves them to the device that opened the
 * purchase last. Returns false if none moved.
 */
export async function moveSlots(context: CaptiveSessionsContext, purchase: PurchaseReader): Promise<boolean> {
	const { database, clock, access } = context;
	const device = await purchaseDevice(context, purchase);
	// `move` gives the slots to the device with the newest `bound_at`.
	if (device?.isReader) await store.update(database.db, device.captiveSessionId, { bound_at: clock.now() });
	return (await access.move(sha256(purchase.token))) === 'moved';
}
