import { normaliseMac } from '#lib/domain/address.ts';
import {
	type ConfigContext,
	type ConfigPart,
	type DeviceController,
	refuseEntry,
	type GatewayAdapter,
	type GatewayFacts,
	type GatewayTransport,
	DEVICE_ABSENT,
	UNSEEN_BYTES,
	checkSize,
	parseClientMac,
	parseWebAddress,
	readField
} from './gateway.ts';
import { z } from 'zod';
import { MINUTE_MS } from '#lib/domain/time.ts';
import { dateOffsetMs } from '#lib/server/platform/clock.ts';
import { type Call, type VendorResponse, callVendorApi, orProblem } from './vendor-api.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';

/**
 * UniFi's external portal, with unsigned redirects:
 * `/guest/s/<site>/?ap=<MAC>&id=<client's MAC>&t=<unix>&url=<requested>&ssid=<name>`
 * The console accepts a portal host but no path, so site and access point identify the gateway, not its key.
 * The browser does not sign in: we authorize the client at the console.
 */

/**
 * Controls UniFi Network through its integration API (9.1.105 and newer; key: Control Plane > Integrations).
 * The console lists a device by MAC address only while it is on the Wi-Fi, and authorizes whole minutes.
 */

const PAGE = 200;
const MAX_PAGES = 10;
/** The API takes up to this many. */
const MOST_MEGABYTES = 1_048_576;

const pageShape = z.looseObject({ totalCount: z.int() });
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
/** Only the client by its id has its authorization. */
const detailShape = z.looseObject({
	access: z
		.looseObject({
			authorization: z.looseObject({ usage: z.looseObject({ bytes: z.number() }).optional() }).optional()
		})
		.optional()
});

function createConsole(facts: GatewayFacts, transport: GatewayTransport) {
	const headers = { 'x-api-key': facts.credentials.apiKey ?? '' };
	const call = (method: Call['method'], path: string, body?: Record<string, unknown>) =>
		callVendorApi({ method, path, headers, ...(body && { body }) }, facts, transport);

	async function list<T>(path: string, shape: z.ZodType<T>, filter?: string): Promise<T[]> {
		const found: T[] = [];
		for (let page = 0; page < MAX_PAGES; page += 1) {
			const query = new URLSearchParams({
				offset: String(page * PAGE),
				limit: String(PAGE),
				...(filter !== undefined && { filter })
			});
			const answer = await call('GET', `${path}?${query.toString()}`);
			const read = pageShape.extend({ data: z.array(shape) }).safeParse(answer.body);
			if (answer.status !== 200 || !read.success) throw new Unavailable(explain(answer));
			found.push(...read.data.data);
			if (read.data.data.length === 0 || found.length >= read.data.totalCount) break;
		}
		return found;
	}

	async function clients(filter?: string) {
		const sites = await list('/sites', siteShape);
		const { site: wanted = '' } = facts.settings;
		const site =
			sites.find(({ internalReference }) => internalReference === wanted) ??
			sites.find(({ name }) => name === wanted);
		if (!site) {
			throw new Unavailable(`The console has no site "${wanted}", or the API key has no access to it.`);
		}
		const path = `/sites/${encodeURIComponent(site.id)}/clients`;
		const found = await list(path, clientShape, filter);
		return found.map((client) => ({ ...client, path: `${path}/${encodeURIComponent(client.id)}` }));
	}

	/** Returns undefined if the device is not on the Wi-Fi. */
	const client = async (mac: string) =>
		(await clients(`macAddress.eq('${mac}')`)).find(
			({ macAddress }) => normaliseMac(macAddress ?? '') === mac
		);

	return { call, clients, client };
}

const connect: DeviceController['connect'] = async ({ mac, speed, dataLeft }, untilMs, facts, transport) => {
	if (mac === null) throw new Unavailable('The MAC address of the device is unknown.');
	const unifi = createConsole(facts, transport);
	const client = await unifi.client(mac);
	if (!client) throw new Unavailable(DEVICE_ABSENT);
	const answer = await unifi.call('POST', `${client.path}/actions`, {
		action: 'AUTHORIZE_GUEST_ACCESS',
		timeLimitMinutes: Math.max(1, Math.ceil((untilMs - transport.now()) / MINUTE_MS)),
		// The console counts from the device: it receives a download. It takes at least 2 kbit/s.
		...(speed.down !== null && { rxRateLimitKbps: Math.max(2, speed.down) }),
		...(speed.up !== null && { txRateLimitKbps: Math.max(2, speed.up) }),
		...(dataLeft !== null && {
			dataUsageLimitMBytes: Math.min(MOST_MEGABYTES, Math.ceil((dataLeft + UNSEEN_BYTES) / 1_000_000))
		})
	});
	if (isSuccess(answer)) return 'done';
	const { type } = client.access ?? {};
	const isNoGuest = answer.status >= 400 && answer.status < 500 && type !== undefined && type !== 'GUEST';
	throw new Unavailable(
		isNoGuest
			? 'The device is not on a guest network. Turn on the hotspot with an external portal for this Wi-Fi.'
			: explain(answer)
	);
};

/** Returns `impossible` for a device that has left the Wi-Fi. Its authorization expires there. */
const disconnect: DeviceController['disconnect'] = async ({ mac }, facts, transport) => {
	if (mac === null) return 'done';
	const unifi = createConsole(facts, transport);
	const client = await unifi.client(mac);
	if (!client) return 'impossible';
	if (client.access?.authorized === false) return 'done';
	const answer = await unifi.call('POST', `${client.path}/actions`, { action: 'UNAUTHORIZE_GUEST_ACCESS' });
	if (answer.status === 404) return 'impossible';
	if (isSuccess(answer)) return 'done';
	throw new Unavailable(explain(answer));
};

const usage: DeviceController['usage'] = async ({ mac }, facts, transport) => {
	const unifi = createConsole(facts, transport);
	const client = mac === null ? undefined : await unifi.client(mac);
	if (!client) return null;
	const answer = await unifi.call('GET', client.path);
	if (answer.status === 404) return null;
	const detail = detailShape.safeParse(answer.body);
	if (answer.status !== 200 || !detail.success) throw new Unavailable(explain(answer));
	return detail.data.access?.authorization?.usage?.bytes ?? null;
};

const sees: DeviceController['sees'] = async ({ mac }, facts, transport) =>
	(await createConsole(facts, transport).client(mac)) !== undefined;

const status: DeviceController['status'] = async (facts, transport) => {
	const unifi = createConsole(facts, transport);
	const sentAt = transport.now();
	const info = await unifi.call('GET', '/info');
	const problems = info.status === 200 ? [] : [explain(info)];
	const clients = problems.length > 0 ? null : await orProblem(problems, unifi.clients());
	const guests = clients?.filter(({ access }) => access?.type === 'GUEST' && access.authorized === true);
	const byMac = clients && new Map(clients.map((one) => [normaliseMac(one.macAddress ?? ''), one.access]));
	return {
		problems,
		reachable: true,
		isUsable: problems.length === 0,
		clockOffsetMs: dateOffsetMs(info.headers['date'], (sentAt + transport.now()) / 2),
		online: guests?.length ?? null,
		// A device that has left the Wi-Fi is not listed.
		reading: byMac && { letsIn: ({ mac }) => byMac.get(mac)?.authorized ?? null, users: [] }
	};
};

const unifiController: DeviceController = {
	...{ subject: 'device', connect, disconnect, usage, status, sees }
};

export const unifi: GatewayAdapter = {
	title: 'UniFi',
	secretName: null,
	defaultPort: null,
	startPath: null,
	controlMode: ({ settings }) => (settings.api === undefined ? 'external' : 'push'),
	controller: unifiController,
	configFor: unifiConfig,

	parseEntry(request) {
		checkSize(request);
		const { fields } = request;
		const clientMac = parseClientMac(readField(fields, 'id'));
		if (clientMac === null) throw refuseEntry('missing', 'id is missing');
		const accessPoint = normaliseMac(readField(fields, 'ap'));
		return {
			state: 'new',
			problem: null,
			clientMac,
			// Missing from the redirect.
			clientIp: null,
			originalUrl: parseWebAddress(readField(fields, 'url')),
			login: accessPoint === null ? {} : { accessPoint }
		};
	}
};

const isSuccess = ({ status }: VendorResponse) => status >= 200 && status < 300;

/** Leaves out the console's own message, because it may repeat what we sent. */
function explain({ status }: VendorResponse): string {
	if (status === 401) return 'The console rejected the API key.';
	if (status === 403) return 'The API key lacks permission. Create it as an administrator of the site.';
	if (status === 404)
		return 'The console has no integration API at this address. Use UniFi Network 9.1.105 or newer.';
	if (status === 429) return 'The console limits the rate of our requests.';
	if (status === 200) return 'The response does not come from the integration API. Check the address.';
	return `The console responded with status ${status}.`;
}

/** Returns manual steps, because UniFi's console has no configuration file. */
function unifiConfig({ settings }: GatewayFacts, { portal, router }: ConfigContext): ConfigPart[] {
	const steps = [
		`Settings > WiFi: the network "${router.ssid}" with Hotspot 2.0 off, "Hotspot Portal" on, ` +
			'security "Open" or a shared password.',
		'Hotspot (Insights > Hotspot > Landing Page): Authentication "External Portal Server", and as its address ' +
			`${portal.hostname}. UniFi appends /guest/s/${settings.site ?? 'default'}/. ` +
			(portal.port === '' && portal.protocol === 'http:'
				? 'It calls the portal by http on port 80.'
				: portal.protocol === 'https:'
					? 'Switch "HTTPS Redirection" and "Secure Portal" on, so that it calls the portal by https.'
					: `It calls only port 80, and this installation uses port ${portal.port}: put a proxy on port 80.`),
		`"Pre-Authorization Allowances": add only ${portal.hostname}, never the pages with which phones detect the ` +
			'internet.',
		'"Default expiration": any value; Airtill sets the minutes of every guest.',
		...(settings.api === undefined
			? ['Airtill does not connect devices there (--external-access): check that the other system does.']
			: [
					'Control Plane > Integrations: create an API key as an administrator of this site. Airtill uses the registered key ' +
						`at ${settings.api}.`,
					'Check that guests stay offline while the console is down: a UniFi gateway that runs on its own (SELFRUN) may ' +
						'connect them unpaid. Switch on "Block access when the console is offline" if there is such a setting.'
				]),
		'Networks > DHCP: set no custom option 114 (RFC 8910). The API identifies a device by its IP address, and all ' +
			'devices of the site share one: a phone would show "sign in" for ever.',
		'Open the router for sale, and buy an hour with a phone on that Wi-Fi.'
	];
	return [
		{
			title: 'UniFi: what to do in the console',
			file: null,
			text: steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
		}
	];
}
