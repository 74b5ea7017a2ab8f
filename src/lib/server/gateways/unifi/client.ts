import { z } from 'zod';
import type {
	GatewayFacts,
	GatewayStatus,
	DeviceLogin,
	Reach,
	CommandResult,
	DeviceController
} from '../gateway.ts';
import { callVendorApi, unavailable, type Call, type Called } from '../vendor-api.ts';

/**
 * Controls UniFi Network through its integration API (9.1.105 and newer; key from Control Plane > Integrations). The
 * console lists a device by MAC address while it is on the Wi-Fi, and authorizes it for whole minutes.
 */

const MINUTE_MS = 60_000;
const PAGE = 200;
const MAX_PAGES = 10;

const pageShape = z.looseObject({ totalCount: z.int(), data: z.array(z.unknown()) });
const siteShape = z.looseObject({
	id: z.string(),
	internalReference: z.string().optional(),
	name: z.string().optional()
});
const clientShape = z.looseObject({
	id: z.string(),
	macAddress: z.string().optional(),
	access: z.looseObject({ type: z.string().optional(), authorized: z.boolean().optional() }).optional()
});
type Client = z.output<typeof clientShape>;

type Outcome<T> = { kind: 'done'; value: T } | { kind: 'unavailable'; reason: string };
const done = <T>(value: T) => ({ kind: 'done' as const, value });

function createConsole(facts: GatewayFacts, reach: Reach) {
	const headers = { 'x-api-key': facts.credentials.apiKey ?? '' };
	const call = (method: Call['method'], path: string, body?: Record<string, unknown>): Promise<Called> =>
		callVendorApi({ method, path, headers, ...(body && { body }) }, facts, reach);

	async function list<T>(path: string, shape: z.ZodType<T>, filter?: string): Promise<Outcome<T[]>> {
		const found: T[] = [];
		for (let page = 0; page < MAX_PAGES; page += 1) {
			const query = new URLSearchParams({
				offset: String(page * PAGE),
				limit: String(PAGE),
				...(filter !== undefined && { filter })
			});
			const answer = await call('GET', `${path}?${query.toString()}`);
			if (answer.kind === 'unavailable') return answer;
			const read = answer.status === 200 ? pageShape.safeParse(answer.body) : null;
			const rows = read?.success ? z.array(shape).safeParse(read.data.data) : null;
			if (!read?.success || !rows?.success) return unavailable(explain(answer));
			found.push(...rows.data);
			if (rows.data.length === 0 || found.length >= read.data.totalCount) break;
		}
		return done(found);
	}

	/** Finds the path of the registered site. */
	async function site(): Promise<Outcome<string>> {
		const sites = await list('/sites', siteShape);
		if (sites.kind === 'unavailable') return sites;
		const { site: wanted = '' } = facts.settings;
		const own = sites.value.find(({ internalReference }) => internalReference === wanted);
		const byName = sites.value.find(({ name }) => name === wanted);
		const found = own ?? byName;
		return found
			? done(`/sites/${encodeURIComponent(found.id)}`)
			: unavailable(`The console has no site "${wanted}", or the API key has no access to it.`);
	}

	/** Finds a device; null if it is not on the Wi-Fi. */
	async function client(mac: string): Promise<Outcome<{ path: string; client: Client } | null>> {
		const at = await site();
		if (at.kind === 'unavailable') return at;
		const clients = await list(`${at.value}/clients`, clientShape, `macAddress.eq('${mac}')`);
		if (clients.kind === 'unavailable') return clients;
		const found = clients.value.find(({ macAddress }) => macAddress?.toLowerCase() === mac);
		return done(
			found ? { client: found, path: `${at.value}/clients/${encodeURIComponent(found.id)}/actions` } : null
		);
	}

	return { call, list, site, client };
}

async function authorize(
	device: DeviceLogin,
	untilMs: number,
	facts: GatewayFacts,
	reach: Reach
): Promise<CommandResult> {
	if (device.mac === null) return unavailable('The MAC address of the device is unknown.');
	const unifi = createConsole(facts, reach);
	const found = await unifi.client(device.mac);
	if (found.kind === 'unavailable') return found;
	if (!found.value) return unavailable('The device is not on the Wi-Fi now.');
	const answer = await unifi.call('POST', found.value.path, {
		action: 'AUTHORIZE_GUEST_ACCESS',
		timeLimitMinutes: Math.max(1, Math.ceil((untilMs - reach.now()) / MINUTE_MS))
	});
	if (answer.kind === 'unavailable') return answer;
	if (answer.status >= 200 && answer.status < 300) return { kind: 'done' };
	const { type } = found.value.client.access ?? {};
	const isNoGuest = answer.status >= 400 && answer.status < 500 && type !== undefined && type !== 'GUEST';
	return unavailable(
		isNoGuest
			? 'The device is not on a guest network. Turn on the hotspot with an external portal for this Wi-Fi.'
			: explain(answer)
	);
}

/** `impossible` for a device that has left the Wi-Fi; its authorization ends after its minutes. */
async function disconnect(device: DeviceLogin, facts: GatewayFacts, reach: Reach): Promise<CommandResult> {
	if (device.mac === null) return { kind: 'done' };
	const unifi = createConsole(facts, reach);
	const found = await unifi.client(device.mac);
	if (found.kind === 'unavailable') return found;
	if (!found.value) return { kind: 'impossible' };
	if (found.value.client.access?.authorized === false) return { kind: 'done' };
	const answer = await unifi.call('POST', found.value.path, { action: 'UNAUTHORIZE_GUEST_ACCESS' });
	if (answer.kind === 'unavailable') return answer;
	if (answer.status === 404) return { kind: 'impossible' };
	return answer.status >= 200 && answer.status < 300 ? { kind: 'done' } : unavailable(explain(answer));
}

async function status(facts: GatewayFacts, reach: Reach): Promise<GatewayStatus> {
	const unifi = createConsole(facts, reach);
	const sentAt = reach.now();
	const info = await unifi.call('GET', '/info');
	const at = (sentAt + reach.now()) / 2;
	if (info.kind === 'unavailable') {
		return { problems: [info.reason], reachable: false, clockOffsetMs: null, online: null };
	}
	// The Date header has whole seconds.
	const time = Date.parse(info.headers['date'] ?? '') + 500;
	const known = { reachable: true, clockOffsetMs: Number.isNaN(time) ? null : time - at };
	if (info.status !== 200) return { ...known, problems: [explain(info)], online: null };
	const site = await unifi.site();
	if (site.kind === 'unavailable') return { ...known, problems: [site.reason], online: null };
	const clients = await unifi.list(`${site.value}/clients`, clientShape);
	if (clients.kind === 'unavailable') return { ...known, problems: [clients.reason], online: null };
	return {
		...known,
		problems: [],
		online: clients.value.filter(({ access }) => access?.type === 'GUEST' && access.authorized === true)
			.length
	};
}

export const unifiController: DeviceController = { subject: 'device', authorize, disconnect, status };

/** Explains an error. The console's own message is left out, because it may repeat what we sent. */
function explain({ status }: { status: number }): string {
	if (status === 401) return 'The console rejected the API key.';
	if (status === 403) return 'The API key lacks permission. Create it as an administrator of the site.';
	if (status === 404)
		return 'The console has no integration API at this address. Use UniFi Network 9.1.105 or newer.';
	if (status === 429) return 'The console limits the rate of our requests.';
	if (status === 200) return 'The response does not come from the integration API. Check the address.';
	return `The console responded with status ${status}.`;
}
