import { z } from 'zod';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { DeviceState } from '#lib/server/access/device-slots/device-state.ts';
import { captiveSessionId, CAPTIVE_SESSION_ID_PATTERN } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import {
	EntryRefused,
	type PassLogin,
	type Entry,
	type EntryRequest,
	type Finish,
	type RefusalReason
} from '../gateway.ts';
import { openGateway, type RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';
import * as store from '../store.ts';

/**
 * Visits: what a gateway handed over with one device, kept here under an unguessable id that is carried in addresses
 * (mini-browsers forget cookies). A purchase is bound to the visits on which it was made or opened; the newest one is
 * the device that is let online. Nothing of a visit is believed but by the gateway itself, which checks the sign-in.
 */
export interface CaptiveSessions {
	/** Reads and keeps what a gateway handed over; `reason` when it is not what this gateway hands over. */
	enter(
		gateway: RegisteredGateway,
		request: EntryRequest
	): Promise<CaptiveSession | { refused: RefusalReason }>;
	find(gateway: RegisteredGateway, id: string): Promise<CaptiveSession | null>;
	/** Notes that a purchase was made, or opened, on a visit. False when there is no such visit. */
	bind(id: string, purchaseToken: string): Promise<boolean>;
	/** What the gateway handed over for a sign-in; empty when the visit is forgotten. For the service, by its row. */
	loginOf(rowId: number): Promise<Readonly<Record<string, string>>>;
	/** The device on which a purchase was last opened takes the place of its others. @returns false when there is none */
	move(purchaseToken: string): Promise<boolean>;
	/** A purchase goes on in the one that replaced it, and so do its visits. */
	carry(fromToken: string, toToken: string): Promise<void>;
	/** The device that a purchase lets online; null when it was made, and opened, elsewhere. */
	ofPurchase(purchase: PurchaseAt): Promise<PurchaseDevice | null>;
	/** Where the browser must go to be let online, noted as tried; null when there is no such way. */
	finish(purchase: PurchaseAt, login: PassLogin): Promise<Finish | null>;
	/** SHA-256 of the token of the purchase that the same device last made at this gateway, as far as it says. */
	earlierPurchase(gateway: RegisteredGateway, clientMac: string | null): Promise<string | null>;
	/**
	 * Which purchase has let the device at an address online: for installations that see the devices' own addresses.
	 * @returns SHA-256 of the purchase's token; null for a device that is not known, or that its gateway has sent here
	 * since it signed in
	 */
	onlineAt(gateway: RegisteredGateway, address: string): Promise<string | null>;
	/** Where a browser gets a new entry; null where only the operating system's probes lead there. */
	startAddress(gateway: RegisteredGateway): string | null;
	/** Whether a gateway lets in only devices that it is told of, so that a purchase without one lets nobody in. */
	needsDevice(gateway: RegisteredGateway): boolean;
	/** What the gateway's newest visits carry for a sign-in: those that led to a purchase, and those of any kind. */
	newestLogins(gateway: RegisteredGateway): Promise<Readonly<Record<string, string>>[]>;
}

export interface CaptiveSession {
	id: string;
	entry: Entry;
}

export interface PurchaseAt {
	token: string;
	/** The router whose time was bought: gateways of others, where it may be opened, never see its password. */
	routerId: number;
}

export interface PurchaseDevice {
	gateway: RegisteredGateway;
	entry: Entry;
	how: Finish['kind'];
	/** Whether the browser has been sent to the gateway: on this visit, or on another one of this purchase lately. */
	tried: 'here' | 'elsewhere' | null;
	/** null where the gateway lets in without being told of devices. */
	deviceState: DeviceState | null;
}

/** Time to choose, pay and come back. */
const UNPAID_MS = 2 * 60 * 60 * 1000;
/** As long as the longest pass, and the time to pay for it. */
const PAID_MS = 32 * 24 * 60 * 60 * 1000;
/** A gateway that sends the browser back, with a new entry, must not make a circle: by itself it is tried once in this time. */
const TRIED_MS = 10 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 1000;
const SWEEP_ROWS = 500;
/** Devices of one purchase whose visits are looked at. */
const MAX_VISITS = 10;

const entryShape: z.ZodType<Entry> = z.object({
	state: z.enum(['new', 'online', 'refused', 'signed-out']),
	problem: z.enum(['wrong-password', 'time-over', 'too-many-devices', 'not-ready', 'unknown']).nullable(),
	clientMac: z.string().nullable(),
	clientIp: z.string().nullable(),
	originalUrl: z.string().nullable(),
	login: z.record(z.string(), z.string())
});

const context = (idHash: string) => `gateway-visit:${idHash}`;

export interface CaptiveSessionsParts {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	access: CaptiveSessionAccess;
}

/** What visits need of whoever decides who may be online (access/). Purchases are known by the hash of their token. */
export interface CaptiveSessionAccess {
	/** A purchase was bound to a visit. @param isIn the gateway says that the device is online already */
	bound(tokenHash: string, isIn: boolean): Promise<void>;
	/** Where a device stands at a gateway that has to be told of it; null where nothing of it is known. */
	stateOf(tokenHash: string, device: { gatewayId: number; mac: string | null }): Promise<DeviceState | null>;
	/** The device of the newest visit takes the place of the purchase's others. @returns false when there is none */
	move(tokenHash: string): Promise<boolean>;
}

export function createCaptiveSessions({
	database,
	clock,
	secrets,
	access
}: CaptiveSessionsParts): CaptiveSessions {
	const { db } = database;
	let sweptAt = -Infinity;

	const entryOf = (row: store.CaptiveSessionRow): Entry =>
		entryShape.parse(JSON.parse(secrets.decrypt(row.entry_sealed, context(row.id_hash))));

	/** @returns its id, which is kept nowhere else */
	async function keep(
		gatewayId: number,
		entry: Entry,
		more: Partial<store.CaptiveSessionRow> = {}
	): Promise<string> {
		const id = captiveSessionId();
		const id_hash = sha256(id);
		const now = clock.now();
		await store.insertCaptiveSession(db, {
			id_hash,
			gateway_id: gatewayId,
			client_mac: entry.clientMac,
			client_ip: entry.clientIp,
			entry_sealed: secrets.encrypt(JSON.stringify(entry), context(id_hash)),
			purchase_token_hash: null,
			bound_at: null,
			tried_at: null,
			created_at: now,
			expires_at: now + UNPAID_MS,
			...more
		});
		return id;
	}

	async function sweep(): Promise<void> {
		const now = clock.now();
		if (Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return;
		sweptAt = now;
		// More than one sweep takes: the next visit goes on, so that they never come faster than they go.
		if ((await store.deleteExpiredCaptiveSessions(db, now, SWEEP_ROWS)) === SWEEP_ROWS) sweptAt = -Infinity;
	}

	async function newestOf({ token, routerId }: PurchaseAt) {
		const rows = await store.captiveSessionsOfPurchase(
			db,
			{ tokenHash: sha256(token), routerId },
			clock.now(),
			MAX_VISITS
		);
		const [newest] = rows;
		const row = newest && (await store.findGateway(db, 'id', newest.gateway_id));
		if (!newest || !row) return null;
		const tries = rows.flatMap(({ tried_at }) => tried_at ?? []);
		return { newest, gateway: openGateway(row, secrets), triedAt: Math.max(-Infinity, ...tries) };
	}

	const howOf = (gateway: RegisteredGateway) => adapterOf(gateway.kind).finishes(gateway);

	return {
		async enter(gateway, request) {
			let entry: Entry;
			try {
				entry = adapterOf(gateway.kind).parseEntry(request, gateway);
			} catch (error) {
				if (error instanceof EntryRefused) return { refused: error.reason };
				throw error;
			}
			await sweep();
			return { id: await keep(gateway.id, entry), entry };
		},
		async find(gateway, id) {
			if (!CAPTIVE_SESSION_ID_PATTERN.test(id)) return null;
			const row = await store.findCaptiveSession(db, gateway.id, sha256(id), clock.now());
			return row && { id, entry: entryOf(row) };
		},
		async bind(id, purchaseToken) {
			if (!CAPTIVE_SESSION_ID_PATTERN.test(id)) return false;
			const now = clock.now();
			const row = await store.findCaptiveSessionById(db, sha256(id), now);
			if (!row) return false;
			const binding = {
				purchase_token_hash: sha256(purchaseToken),
				bound_at: now,
				expires_at: now + PAID_MS
			};
			const isOthers =
				row.purchase_token_hash !== null && row.purchase_token_hash !== binding.purchase_token_hash;
			// Two purchases of one device: each keeps a visit of its own.
			if (isOthers) await keep(row.gateway_id, entryOf(row), binding);
			else await store.updateCaptiveSession(db, row.id, binding);
			await access.bound(binding.purchase_token_hash, entryOf(row).state === 'online');
			return true;
		},
		async loginOf(rowId) {
			const row = await store.findCaptiveSessionRow(db, rowId);
			return row ? entryOf(row).login : {};
		},
		async carry(fromToken, toToken) {
			await store.moveCaptiveSessions(db, sha256(fromToken), sha256(toToken));
			await access.bound(sha256(toToken), false);
		},
		async ofPurchase(purchase) {
			const found = await newestOf(purchase);
			if (!found) return null;
			const { newest, gateway, triedAt } = found;
			const lately = clock.now() - triedAt < TRIED_MS ? 'elsewhere' : null;
			const tried = newest.tried_at === null ? lately : 'here';
			const entry = entryOf(newest);
			const deviceState = await access.stateOf(sha256(purchase.token), {
				gatewayId: gateway.id,
				mac: newest.client_mac
			});
			return { gateway, entry, how: howOf(gateway), tried, deviceState };
		},
		move: (purchaseToken) => access.move(sha256(purchaseToken)),
		async finish(purchase, login) {
			const found = await newestOf(purchase);
			if (!found) return null;
			const { newest, gateway } = found;
			try {
				const finish = adapterOf(gateway.kind).finish(entryOf(newest), login, gateway);
				await store.updateCaptiveSession(db, newest.id, { tried_at: clock.now() });
				return finish;
			} catch (error) {
				if (error instanceof EntryRefused) return null;
				throw error;
			}
		},
		async earlierPurchase(gateway, clientMac) {
			if (clientMac === null) return null;
			const row = await store.newestPurchaseOf(db, { gatewayId: gateway.id, clientMac }, clock.now());
			return row?.purchase_token_hash ?? null;
		},
		async onlineAt(gateway, address) {
			const clientIp = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
			const now = clock.now();
			const newest = await store.newestAt(db, { gatewayId: gateway.id, clientIp }, now);
			if (!newest) return null;
			const paid =
				newest.purchase_token_hash === null && newest.client_mac !== null
					? await store.newestPurchaseOf(db, { gatewayId: gateway.id, clientMac: newest.client_mac }, now)
					: newest;
			// Addresses are given to another device later, and then they say nothing about the first one.
			if (!paid || paid.client_ip !== clientIp || paid.purchase_token_hash === null) return null;
			const signedIn =
				(paid.tried_at !== null && newest.created_at <= paid.tried_at) || entryOf(newest).state === 'online';
			if (signedIn) return paid.purchase_token_hash;
			if (howOf(gateway) !== 'waits') return null;
			// Something else lets it in: nobody hears of it.
			if (adapterOf(gateway.kind).controlMode(gateway) === 'external') return paid.purchase_token_hash;
			const device = { gatewayId: gateway.id, mac: paid.client_mac };
			const deviceState = await access.stateOf(paid.purchase_token_hash, device);
			return deviceState === 'online' ? paid.purchase_token_hash : null;
		},
		startAddress: (gateway) => adapterOf(gateway.kind).startAddress(gateway),
		needsDevice(gateway) {
			const { kind } = gateway;
			const { controlMode, controller } = adapterOf(kind);
			return (
				controlMode(gateway) === 'poll' ||
				(controlMode(gateway) === 'push' && controller?.subject === 'device')
			);
		},
		async newestLogins(gateway) {
			const rows = await store.newestCaptiveSessions(db, gateway.id, clock.now(), MAX_VISITS);
			return rows.map((row) => entryOf(row).login);
		}
	};
}
