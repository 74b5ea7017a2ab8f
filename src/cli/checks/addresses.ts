import { BlockList, isIP } from 'node:net';
import type { Config } from '#lib/server/config/config.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** Checks the addresses for buyers and operators. */
export function* checkAddresses({ mode, origin, callbackUrl }: Config): Generator<Finding> {
	if (origin?.startsWith('https:')) yield ok('address', origin);
	else if (mode === 'sandbox') yield ok('address', origin ?? 'links follow the Host header, over plain http');
	else {
		const what = origin ? `${origin} is plain http` : 'ORIGIN is not set, so links use plain http';
		yield warn('address', what, 'set ORIGIN to the public https address');
	}

	if (mode === 'sandbox') yield ok('callbacks', `the sandbox operator calls ${callbackUrl}`);
	else if (isLocal(callbackUrl)) {
		const what = `operators cannot reach ${callbackUrl} from outside`;
		yield fail('callbacks', what, 'set ORIGIN or CALLBACK_URL to the public address');
	} else if (!callbackUrl.startsWith('https:')) {
		yield warn(
			'callbacks',
			`${callbackUrl} is plain http`,
			'most operators call https addresses only: set CALLBACK_URL'
		);
	} else yield ok('callbacks', `operators call ${callbackUrl}`);
}

/** Returns true for an address that is reachable only from this machine or its own network. */
function isLocal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	const family = isIP(host);
	if (family === 0) return host === 'localhost' || host.endsWith('.localhost') || !host.includes('.');
	return LOCAL_ADDRESSES.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

/** Unspecified, loopback, private (RFC 1918, RFC 6598, RFC 4193) and link-local addresses. */
const LOCAL_ADDRESSES = new BlockList();
LOCAL_ADDRESSES.addSubnet('0.0.0.0', 8, 'ipv4');
LOCAL_ADDRESSES.addSubnet('127.0.0.0', 8, 'ipv4');
LOCAL_ADDRESSES.addSubnet('10.0.0.0', 8, 'ipv4');
LOCAL_ADDRESSES.addSubnet('100.64.0.0', 10, 'ipv4');
LOCAL_ADDRESSES.addSubnet('172.16.0.0', 12, 'ipv4');
LOCAL_ADDRESSES.addSubnet('192.168.0.0', 16, 'ipv4');
LOCAL_ADDRESSES.addSubnet('169.254.0.0', 16, 'ipv4');
LOCAL_ADDRESSES.addSubnet('::', 127, 'ipv6');
LOCAL_ADDRESSES.addSubnet('fc00::', 7, 'ipv6');
LOCAL_ADDRESSES.addSubnet('fe80::', 10, 'ipv6');
