import { durationProblem } from '#lib/domain/duration.ts';
import { toMinor } from '#lib/domain/money.ts';
import { LIMITS, limitsOf, type Limit, type Limits } from '#lib/domain/offers/offer-limits.ts';
import type { OffersUpdateBody, ProblemItem } from '../api/contract/schemas.ts';
import { heldLimits, type RegisteredGateway } from '../gateways/gateways.ts';
import type { RouterRow } from '../routers/routers.ts';

type NewOffer = OffersUpdateBody['offers'][number];
type Field = keyof NewOffer;

interface Seller {
	router: RouterRow;
	/** Whether one of its payment methods can charge an amount. */
	isPayable: (amountMinor: number) => boolean;
	gateways: readonly RegisteredGateway[];
}

/** Lists everything that is wrong with a new list of offers, by the field of the request body. */
export function offerProblems(list: OffersUpdateBody, seller: Seller): ProblemItem[] {
	const problems = list.offers.flatMap((offer, index) => [
		...ownProblems(offer, seller).map(({ field, detail }) => problem(`/offers/${index}/${field}`, detail)),
		...duplicates(list.offers, index)
	]);
	const sells = list.offers.some((offer) => offer.active);
	if (list.hourly || sells) return problems;
	return [
		...problems,
		problem('/hourly', 'Nothing would be sold: add an active offer, or sell by the hour.')
	];
}

const problem = (
	pointer: string,
	detail: string,
	code: ProblemItem['code'] = 'out_of_range'
): ProblemItem => ({
	...{ in: 'body', pointer, code, detail }
});

function ownProblems(
	offer: NewOffer,
	{ router, gateways, isPayable }: Seller
): { field: Field; detail: string }[] {
	const found: { field: Field; detail: string }[] = [];
	const check = (field: Field, detail: string | null) => {
		if (detail !== null) found.push({ field, detail });
	};
	check('duration', durationProblem(router, offer.duration));
	check('price', priceProblem(offer.price, router, isPayable));
	check('until', hoursProblem(offer));
	// An inactive offer can wait for a gateway that is yet to hold its limits.
	return offer.active ? [...found, ...limitProblems(offer, router, gateways)] : found;
}

export function limitProblems(
	offer: Limits,
	router: Pick<RouterRow, 'access_kind' | 'max_devices'>,
	gateways: readonly RegisteredGateway[]
): { field: Limit; detail: string }[] {
	const ofSpeed = (kbps: number | null = null) =>
		kbps === null ? null : (eapProblem(router, gateways) ?? speedProblem(kbps, gateways));
	const problems = {
		max_devices: devicesProblem(offer, router),
		speed_down_kbps: ofSpeed(offer.speed_down_kbps),
		speed_up_kbps: ofSpeed(offer.speed_up_kbps),
		data_limit_mb: isSet(offer.data_limit_mb) ? dataProblem(offer, router, gateways) : null
	};
	return LIMITS.flatMap((field) => {
		const detail = problems[field];
		return detail === null ? [] : [{ field, detail }];
	});
}

const isSet = (value: number | null | undefined): boolean => value !== null && value !== undefined;

function priceProblem(price: number, { currency }: RouterRow, isPayable: Seller['isPayable']): string | null {
	const minor = toMinor(price, currency);
	if (minor === null) return `Use an amount of ${currency} without superfluous decimals.`;
	return isPayable(minor) ? null : 'No payment method of the router can charge this amount.';
}

function hoursProblem({ from = null, until = null }: NewOffer): string | null {
	if ((from === null) !== (until === null)) return 'Give both "from" and "until", or neither.';
	return from !== null && from === until ? 'Use an end that differs from the start.' : null;
}

function devicesProblem(
	{ max_devices: devices }: Limits,
	{ access_kind }: Pick<RouterRow, 'access_kind'>
): string | null {
	if (!isSet(devices) || access_kind !== 'shared_password') return null;
	return 'Everybody has the same password here, so the number of devices cannot be limited.';
}

const NO_LIMITS_YET =
	'holds limits only with openNDS 10 or newer, after its BinAuth script has asked: install the script of its configuration.';

/** With EAP, FreeRADIUS sends the gateway only the end of a pass. RouterOS may not support Disconnect-Requests for it. */
function eapProblem(
	{ access_kind: access }: Pick<RouterRow, 'access_kind'>,
	gateways: readonly RegisteredGateway[]
): string | null {
	const unable = access === 'wpa_enterprise' ? gateways.find(({ kind }) => kind === 'mikrotik') : undefined;
	return unable ? `The gateway "${unable.name}" (mikrotik) holds no limits with wpa_enterprise.` : null;
}

/** A limit that only some gateways of the router hold would depend on where the buyer connects. */
function speedProblem(kbps: number, gateways: readonly RegisteredGateway[]): string | null {
	if (gateways.length === 0) return 'The router has no gateway, so nothing limits the speed.';
	const unable = gateways.find((gateway) => heldLimits(gateway).maxSpeedKbps < kbps);
	if (!unable) return null;
	const most = heldLimits(unable).maxSpeedKbps;
	const gateway = `The gateway "${unable.name}" (${unable.kind})`;
	if (most > 0) return `${gateway} takes limits of up to ${most} kbit/s.`;
	return unable.kind === 'opennds' ? `${gateway} ${NO_LIMITS_YET}` : `${gateway} cannot limit the speed.`;
}

function dataProblem(
	{ max_devices: devices }: Limits,
	router: Pick<RouterRow, 'access_kind' | 'max_devices'>,
	gateways: readonly RegisteredGateway[]
): string | null {
	const { access_kind: access, max_devices: most } = router;
	if (access === 'shared_password') {
		return 'Everybody has the same password here, so the amount of data cannot be limited.';
	}
	if (gateways.length === 0) return 'The router has no gateway, so nothing limits the amount of data.';
	const eap = eapProblem(router, gateways);
	if (eap !== null) return eap;
	const isOneDevice = (devices ?? most) === 1;
	const unable = gateways.find((gateway) => {
		const { data } = heldLimits(gateway);
		if (data === null || (data === 'device' && !isOneDevice)) return true;
		return gateway.kind === 'hostapd' && access !== 'wpa_enterprise';
	});
	if (!unable) return null;
	const gateway = `The gateway "${unable.name}" (${unable.kind})`;
	if (unable.mode === 'radius' && unable.settings.nas === undefined) {
		return `${gateway} can limit the amount of data only with an address for Disconnect-Requests (--nas).`;
	}
	if (heldLimits(unable).data === 'device') {
		return `${gateway} may report what a device used only at its end, so it holds data limits only for 1 device.`;
	}
	if (unable.kind === 'opennds') return `${gateway} ${NO_LIMITS_YET}`;
	return unable.kind === 'hostapd'
		? `${gateway} reports whose data it is only with wpa_enterprise.`
		: `${gateway} cannot limit the amount of data.`;
}

function duplicates(offers: readonly NewOffer[], index: number): ProblemItem[] {
	const offer = offers[index];
	if (!offer) return [];
	const earlier = offers.slice(0, index);
	const at = (field: Field) => `/offers/${index}/${field}`;
	const name = offer.name.trim().toLowerCase();
	if (earlier.some((one) => one.name.trim().toLowerCase() === name)) {
		return [problem(at('name'), `Another offer has the name "${offer.name}".`, 'duplicate')];
	}
	const same = earlier.find((one) => termsKey(one) === termsKey(offer));
	if (!same) return [];
	return [problem(at('price'), `"${same.name}" has the same duration, price and limits.`, 'duplicate')];
}

/** The terms for which an id stands. Equal keys mean equal terms. `price` may be in any one unit. */
export const termsKey = (offer: Limits & { duration: string; price: number }): string =>
	JSON.stringify([offer.duration, offer.price, ...Object.values(limitsOf(offer))]);
