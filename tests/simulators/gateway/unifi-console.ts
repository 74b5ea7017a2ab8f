import { startApi, type ApiServer, type Asked, type Said } from './faults.ts';

/**
 * The integration API of a UniFi console (UniFi Network 10): sites, clients that are on the Wi-Fi now, and guests, who
 * are let in for whole minutes on the console's own clock. Lists come in pages.
 */
export interface UniFiConsole extends ApiServer {
	/** A device joins the guest network, or leaves it: then the console does not know it, but remembers what it may. */
	join(mac: string): void;
	leave(mac: string): void;
	/** The console was restored from a backup: it knows nothing of a guest. */
	forget(mac: string): void;
	/** Whether a device that is there would have the internet. */
	isIn(mac: string): boolean;
	/** Minutes that it was last let in for; null when it never was. */
	minutesOf(mac: string): number | null;
	/** Limits in kbit/s with which it was last let in, as the API names them. */
	speedOf(mac: string): { rxRateLimitKbps?: number; txRateLimitKbps?: number };
	/** `dataUsageLimitMBytes` with which it was last let in; null without one. */
	megabytesOf(mac: string): number | null;
	/** A device sends and receives that many bytes; at its limit it is offline. */
	use(mac: string, bytes: number): void;
	/** How often a device was let in. */
	grantsOf(mac: string): number;
}

const BASE = '/proxy/network/integration/v1';
const SITES = [
	{ id: '5f0c0a4e-0000-4000-8000-000000000001', internalReference: 'other', name: 'Other' },
	{ id: '5f0c0a4e-0000-4000-8000-000000000002', internalReference: 'default', name: 'Default' }
];

interface Guest {
	endsAt: number;
	minutes: number;
	speed: Record<string, number>;
	megabytes: number | null;
	bytes: number;
}

export async function startUniFi(key: string): Promise<UniFiConsole> {
	/** By MAC: the client's id. */
	const clients = new Map<string, string>();
	const guests = new Map<string, Guest>();
	const grants = new Map<string, number>();
	const now = () => Date.now() + api.clockOffsetMs;
	const isIn = (mac: string) => {
		const guest = guests.get(mac);
		if (guest === undefined || guest.endsAt <= now()) return false;
		return guest.megabytes === null || guest.bytes < guest.megabytes * 1_000_000;
	};

	const dated = (said: Said): Said => ({ ...said, headers: { date: new Date(now()).toUTCString() } });
	const wrong = (statusCode: number, code: string, message: string): Said => ({
		status: statusCode,
		body: {
			statusCode,
			statusName: code,
			code: `api.${code}`,
			message,
			timestamp: new Date(now()).toISOString()
		}
	});

	function paged(rows: unknown[], query: URLSearchParams): Said {
		const offset = Number(query.get('offset') ?? 0);
		const limit = Number(query.get('limit') ?? 25);
		if (!(limit >= 0 && limit <= 200)) return wrong(400, 'request.argument', 'limit');
		const data = rows.slice(offset, offset + limit);
		return { status: 200, body: { offset, limit, count: data.length, totalCount: rows.length, data } };
	}

	function answer({ method, path, query, headers, body }: Asked): Said {
		if (headers['x-api-key'] !== key) return wrong(401, 'authentication.failed', 'Unauthorized');
		if (!path.startsWith(BASE)) return wrong(404, 'not-found', 'Not found');
		const [, ...parts] = path.slice(BASE.length).split('/');
		if (path === `${BASE}/info`) return { status: 200, body: { applicationVersion: '10.0.160' } };
		if (path === `${BASE}/sites`) return paged(SITES, query);
		const [sites, siteId, kind, clientId, actions] = parts;
		if (sites !== 'sites' || !SITES.some(({ id }) => id === siteId) || kind !== 'clients') {
			return wrong(404, 'not-found', 'Not found');
		}
		const here = siteId === SITES[1]?.id ? [...clients] : [];
		if (clientId === undefined) {
			const filter = query.get('filter');
			const [, mac] = /^macAddress\.eq\('([0-9a-f:]{17})'\)$/.exec(filter ?? '') ?? [];
			if (filter !== null && mac === undefined) return wrong(400, 'filter', 'The filter cannot be read');
			const rows = here
				.filter(([address]) => mac === undefined || address === mac)
				.map(([macAddress, id]) => ({
					id,
					macAddress,
					type: 'WIRELESS',
					access: { type: 'GUEST', authorized: isIn(macAddress) }
				}));
			return paged(rows, query);
		}
		const [mac] = here.find(([, id]) => id === clientId) ?? [];
		if (mac === undefined) return wrong(404, 'client.not-found', 'Client not found');
		if (method === 'GET' && actions === undefined) {
			const bytes = guests.get(mac)?.bytes ?? 0;
			// An authorization that is over is not shown.
			const usage = { durationSec: 1, rxBytes: bytes, txBytes: 0, bytes };
			const authorization = isIn(mac) && { authorization: { authorizationMethod: 'API', usage } };
			const access = { type: 'GUEST', authorized: isIn(mac), ...authorization };
			return { status: 200, body: { id: clientId, macAddress: mac, type: 'WIRELESS', access } };
		}
		if (method !== 'POST' || actions !== 'actions') return wrong(404, 'not-found', 'Not found');
		return act(mac, body);
	}

	function act(mac: string, { action, timeLimitMinutes: minutes, ...limits }: Record<string, unknown>): Said {
		if (action === 'UNAUTHORIZE_GUEST_ACCESS') {
			guests.delete(mac);
			return { status: 200, body: { action } };
		}
		if (action !== 'AUTHORIZE_GUEST_ACCESS') return wrong(400, 'action', 'Unknown action');
		if (!Number.isInteger(minutes) || Number(minutes) < 1 || Number(minutes) > 1_000_000) {
			return wrong(400, 'action.time-limit', 'timeLimitMinutes');
		}
		const speed: Record<string, number> = {};
		for (const name of ['rxRateLimitKbps', 'txRateLimitKbps']) {
			const kbps = limits[name];
			if (kbps === undefined) continue;
			if (!Number.isInteger(kbps) || Number(kbps) < 2 || Number(kbps) > 100_000) {
				return wrong(400, 'action.rate-limit', name);
			}
			speed[name] = Number(kbps);
		}
		const { dataUsageLimitMBytes: limit = null } = limits;
		if (limit !== null && !(Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= 1_048_576)) {
			return wrong(400, 'action.data-limit', 'dataUsageLimitMBytes');
		}
		const megabytes = limit === null ? null : Number(limit);
		const endsAt = now() + Number(minutes) * 60_000;
		guests.set(mac, { endsAt, minutes: Number(minutes), speed, megabytes, bytes: 0 });
		grants.set(mac, (grants.get(mac) ?? 0) + 1);
		return { status: 200, body: { action, grantedAuthorization: { authorizationMethod: 'API' } } };
	}

	const api = await startApi((asked) => dated(answer(asked)), {
		unauthorised: () => wrong(401, 'authentication.failed', 'Unauthorized'),
		error: () => wrong(500, 'internal', 'Internal error')
	});

	return Object.assign<ApiServer, Omit<UniFiConsole, keyof ApiServer>>(api, {
		join: (mac) => void clients.set(mac, `c1${mac.replaceAll(':', '')}-client`),
		leave: (mac) => void clients.delete(mac),
		forget: (mac) => void guests.delete(mac),
		isIn,
		speedOf: (mac) => guests.get(mac)?.speed ?? {},
		megabytesOf: (mac) => guests.get(mac)?.megabytes ?? null,
		use(mac, bytes) {
			const guest = guests.get(mac);
			if (guest === undefined) throw new Error(`The console has no guest ${mac}`);
			guest.bytes += bytes;
		},
		minutesOf: (mac) => guests.get(mac)?.minutes ?? null,
		grantsOf: (mac) => grants.get(mac) ?? 0
	});
}
