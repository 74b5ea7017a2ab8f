import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Unavailable } from './errors.ts';

export interface Address {
	address: string;
	family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<Address[]>;

type LookupFault = 'address_not_allowed' | 'name_not_found';

export const isLookupFault = (reason: string): reason is LookupFault =>
	reason === 'address_not_allowed' || reason === 'name_not_found';

const fail = (reason: LookupFault, cause?: unknown) =>
	new Unavailable(reason, { reason, sent: false, cause });

/**
 * Creates a lookup for `net.connect` that checks every address of a name at each connect (DNS rebinding). One address
 * that is not allowed refuses the name, because Node chooses the address.
 */
export function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
	return (hostname, options, callback) => {
		resolve(hostname).then(
			(addresses) => {
				const [first] = addresses;
				if (!first) return callback(fail('name_not_found'), '', 0);
				if (!addresses.every(({ address }) => isAllowed(address))) {
					return callback(fail('address_not_allowed'), '', 0);
				}
				if (options.all) callback(null, addresses);
				else callback(null, first.address, first.family);
			},
			(cause: unknown) => callback(fail('name_not_found', cause), '', 0)
		);
	};
}

const RESOLVE_TIMEOUT_MS = 3_000;
const RESOLVE_TRIES = 2;

/** Asks the name server. The system's lookup includes local names and has four threads for the whole process. */
export async function resolvePublicly(hostname: string): Promise<Address[]> {
	const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
	const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
	if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
	return [
		...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 }) as const),
		...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 }) as const)
	];
}

export async function resolveLocally(hostname: string): Promise<Address[]> {
	const found = await systemLookup(hostname, { all: true });
	return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
