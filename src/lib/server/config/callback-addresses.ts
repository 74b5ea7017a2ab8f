import { BlockList, isIP } from 'node:net';

export type IsListed = (address: string) => boolean;

/** Parses `daraja=196.201.214.200;pawapay=3.64.89.224/32` to a check per operator; null if it is invalid. */
export function readAddressLists(text: string): ReadonlyMap<string, IsListed> | null {
	const lists = new Map<string, IsListed>();
	for (const part of text.split(';').map((one) => one.trim())) {
		if (part === '') continue;
		const [, operator, addresses] = /^([a-z]+)\s*=\s*(\S.*)$/.exec(part) ?? [];
		if (operator === undefined || addresses === undefined || lists.has(operator)) return null;
		const list = new BlockList();
		for (const address of addresses.split(',').map((one) => one.trim())) {
			if (!add(list, address)) return null;
		}
		lists.set(operator, (address) => {
			const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
			const family = isIP(plain);
			return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
		});
	}
	return lists;
}

function add(list: BlockList, text: string): boolean {
	const [address = '', bits, ...rest] = text.split('/');
	const family = isIP(address);
	if (family === 0 || rest.length > 0) return false;
	const type = family === 4 ? 'ipv4' : 'ipv6';
	if (bits === undefined) list.addAddress(address, type);
	else if (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)) {
		list.addSubnet(address, Number(bits), type);
	} else return false;
	return true;
}
