import { dataLeft } from '#lib/domain/offers.ts';
import { type PassRow, readSpeed } from '../../passes.ts';
import type { GatewayKind } from '#lib/server/gateways/gateway.ts';
import { dataWords, isUnlimited, routerOsRate } from '#lib/server/gateways/gateways.ts';

type Value = 'octets' | 'gigawords' | 'bitsUp' | 'bitsDown';

/**
 * Attributes of vendors, with 32 bits. FreeRADIUS needs their names, our own requests the numbers. An access point alone
 * holds no limit.
 */
const ATTRIBUTES: Partial<
	Record<GatewayKind, readonly (readonly [Value, name: string, vendorId: number, type: number])[]>
> = {
	mikrotik: [
		['octets', 'Mikrotik-Total-Limit', 14_988, 17],
		['gigawords', 'Mikrotik-Total-Limit-Gigawords', 14_988, 18]
	],
	coova: [
		['octets', 'ChilliSpot-Max-Total-Octets', 14_559, 3],
		['gigawords', 'ChilliSpot-Max-Total-Gigawords', 14_559, 23],
		['bitsUp', 'WISPr-Bandwidth-Max-Up', 14_122, 7],
		['bitsDown', 'WISPr-Bandwidth-Max-Down', 14_122, 8]
	]
};

/** @param total bytes that the connection may use: both gateways count per connection; null without a limit */
export function limitAttributes(kind: GatewayKind, pass: PassRow, total: number | null) {
	const { down, up } = readSpeed(pass);
	const values: Record<Value, number | null> = {
		...(total === null ? { octets: null, gigawords: null } : dataWords(total)),
		bitsUp: up === null ? null : up * 1000,
		bitsDown: down === null ? null : down * 1000
	};
	return (ATTRIBUTES[kind] ?? []).flatMap(([source, name, vendorId, type]) => {
		const value = values[source];
		return value === null ? [] : [{ name, vendorId, type, value }];
	});
}

/** Returns the limits of a pass for an Access-Accept. */
export function acceptLimits(kind: GatewayKind, pass: PassRow): Record<string, string | number> {
	const speed = readSpeed(pass);
	const left = dataLeft(pass);
	// FreeRADIUS does not know CoovaChilli's gigawords: above 4 GiB only the Disconnect-Request ends its connections.
	const isTooLarge = kind === 'coova' && left !== null && dataWords(left).gigawords > 0;
	const limits = limitAttributes(kind, pass, isTooLarge ? null : left).filter(({ value }) => value > 0);
	return {
		...(kind === 'mikrotik' && !isUnlimited(speed) && { 'reply:Mikrotik-Rate-Limit': routerOsRate(speed) }),
		...Object.fromEntries(limits.map(({ name, value }) => [`reply:${name}`, value]))
	};
}
