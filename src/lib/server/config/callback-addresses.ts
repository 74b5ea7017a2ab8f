import { isInRange, readIpRange } from '#lib/domain/ip-address.ts';

/** @param address in its one spelling (`normaliseIp`) */
export type IsListed = (address: string) => boolean;

/** Parses `daraja=196.201.214.200;pawapay=3.64.89.224/32` to a check per operator; null if it is invalid. */
export function readAddressLists(text: string): ReadonlyMap<string, IsListed> | null {
	const lists = new Map<string, IsListed>();
	for (const part of text.split(';').map((one) => one.trim())) {
		if (part === '') continue;
		const [, operator, addresses] = /^([a-z]+)\s*=\s*(\S.*)$/.exec(part) ?? [];
		if (operator === undefined || addresses === undefined || lists.has(operator)) return null;
		const ranges = addresses.split(',').map(readIpRange);
		if (!ranges.every((range) => range !== null)) return null;
		lists.set(operator, (address) => ranges.some((range) => isInRange(address, range)));
	}
	return lists;
}
