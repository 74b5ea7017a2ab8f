import { LIMITS, type Limit, type Limits } from '#lib/domain/offers/offer-limits.ts';
import { maxSpeedKbps, unheldData, unheldSpeed, type RegisteredGateway } from '../gateways/gateways.ts';
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
		`takes limits of up to ${maxSpeedKbps(gateway)} kbit/s.`,
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
		const reason = unheldReason(gateway, field, offer, router);
		if (reason === null) continue;
		const detail = `The gateway "${gateway.name}" (${gateway.kind}) ${GATEWAY_DETAILS[reason](noun, gateway)}`;
		return { reason, gateway, detail };
	}
	return null;
}

function unheldReason(
	gateway: RegisteredGateway,
	field: Limit,
	offer: Limits,
	{ access_kind: access, max_devices: most }: Place
): keyof typeof GATEWAY_DETAILS | null {
	// With EAP, FreeRADIUS sends the gateway only the end of a pass. RouterOS may not support Disconnect-Requests for it.
	if (access === 'wpa_enterprise' && gateway.kind === 'mikrotik') return 'no_limits_with_enterprise';
	if (field === 'data_limit_mb') return unheldData(gateway, access, offer.max_devices ?? most);
	return unheldSpeed(gateway, offer[field] ?? 0);
}
