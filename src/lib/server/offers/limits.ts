import { LIMITS, type Limit, type Limits } from '#lib/domain/offers/offer-limits.ts';
import { heldLimits, type RegisteredGateway } from '../gateways/gateways.ts';
import type { RouterRow } from '../routers/routers.ts';

type Place = Pick<RouterRow, 'access_kind' | 'max_devices'>;

/** Why nothing at a router would hold a limit, in English for the API; pages translate `reason`. */
interface Unheld {
	reason: keyof typeof GATEWAY_DETAILS | 'shared_password' | 'no_gateway';
	/** The gateway that cannot; null if it is not about one. */
	gateway: RegisteredGateway | null;
	detail: string;
}

const NOUNS: Readonly<Record<Limit, string>> = {
	max_devices: 'the number of devices',
	speed_down_kbps: 'the speed',
	speed_up_kbps: 'the speed',
	data_limit_mb: 'the amount of data'
};

/** The ends of the sentences that begin with the gateway's name. */
const GATEWAY_DETAILS = {
	no_limits_with_enterprise: () => 'holds no limits with wpa_enterprise.',
	too_fast: (_noun: string, gateway: RegisteredGateway) =>
		`takes limits of up to ${heldLimits(gateway).maxSpeedKbps} kbit/s.`,
	needs_script: () =>
		'holds limits only with openNDS 10 or newer, after its BinAuth script has asked: install the script of its configuration.',
	needs_address: (noun: string) => `can limit ${noun} only with an address for Disconnect-Requests (--nas).`,
	one_device_only: () =>
		'may report what a device used only at its end, so it holds data limits only for 1 device.',
	needs_enterprise: () => 'reports whose data it is only with wpa_enterprise.',
	unable: (noun: string) => `cannot limit ${noun}.`
};

/** Lists the limits of an offer that the router and its gateways do not hold. */
export function limitProblems(
	offer: Limits,
	router: Place,
	gateways: readonly RegisteredGateway[]
): ({ field: Limit } & Unheld)[] {
	return LIMITS.flatMap((field) => {
		const unheld = isSet(offer[field]) ? unheldLimit(field, offer, router, gateways) : null;
		return unheld === null ? [] : [{ field, ...unheld }];
	});
}

const isSet = (value: number | null | undefined): value is number => value !== null && value !== undefined;

function unheldLimit(
	field: Limit,
	offer: Limits,
	router: Place,
	gateways: readonly RegisteredGateway[]
): Unheld | null {
	const noun = NOUNS[field];
	const isShared = router.access_kind === 'shared_password';
	if (isShared && (field === 'max_devices' || field === 'data_limit_mb')) {
		const detail = `Everybody has the same password here, so ${noun} cannot be limited.`;
		return { reason: 'shared_password', gateway: null, detail };
	}
	if (field === 'max_devices') return null;
	if (gateways.length === 0) {
		const detail = `The router has no gateway, so nothing limits ${noun}.`;
		return { reason: 'no_gateway', gateway: null, detail };
	}
	// A limit that only some gateways of the router hold would depend on where the buyer connects.
	for (const gateway of gateways) {
		const reason =
			enterpriseReason(gateway, router) ??
			(field === 'data_limit_mb'
				? dataReason(gateway, offer, router)
				: speedReason(gateway, offer[field] ?? 0));
		if (reason === null) continue;
		const detail = `The gateway "${gateway.name}" (${gateway.kind}) ${GATEWAY_DETAILS[reason](noun, gateway)}`;
		return { reason, gateway, detail };
	}
	return null;
}

type GatewayReason = keyof typeof GATEWAY_DETAILS;

/** With EAP, FreeRADIUS sends the gateway only the end of a pass. RouterOS may not support Disconnect-Requests for it. */
const enterpriseReason = (
	{ kind }: RegisteredGateway,
	{ access_kind: access }: Place
): GatewayReason | null =>
	access === 'wpa_enterprise' && kind === 'mikrotik' ? 'no_limits_with_enterprise' : null;

function speedReason(gateway: RegisteredGateway, kbps: number): GatewayReason | null {
	const most = heldLimits(gateway).maxSpeedKbps;
	if (most >= kbps) return null;
	if (most > 0) return 'too_fast';
	return gateway.kind === 'opennds' ? 'needs_script' : 'unable';
}

function dataReason(
	gateway: RegisteredGateway,
	{ max_devices: devices }: Limits,
	{ access_kind: access, max_devices: most }: Place
): GatewayReason | null {
	const { data } = heldLimits(gateway);
	const { kind, mode, settings } = gateway;
	if (data === 'pass') return kind === 'hostapd' && access !== 'wpa_enterprise' ? 'needs_enterprise' : null;
	if (data === 'device') return (devices ?? most) === 1 ? null : 'one_device_only';
	if (mode === 'radius' && settings.nas === undefined) return 'needs_address';
	if (kind === 'opennds') return 'needs_script';
	return kind === 'hostapd' ? 'needs_enterprise' : 'unable';
}
