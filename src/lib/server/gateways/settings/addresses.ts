import { isIP } from 'node:net';
import { isPublicAddress } from '#lib/domain/ip-address.ts';

const MAX_API_LENGTH = 300;

/** Reads `10.8.0.2`, `10.8.0.2:3799`, `fd00::2` or `[fd00::2]:3799`. Returns null for anything else. */
export function parseNas(text: string): { nas: string; nasPort?: number } | null {
	const trimmed = text.trim().toLowerCase();
	if (isIP(trimmed) !== 0) return { nas: trimmed };
	const [, six, four, port = ''] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(trimmed) ?? [];
	const nas = six ?? four ?? '';
	const nasPort = Number(port);
	return isIP(nas) !== 0 && nasPort >= 1 && nasPort <= 65_535 ? { nas, nasPort } : null;
}

type ApiAddress = { address: string; problem: null } | { address: ''; problem: string };

/**
 * Accepts http only in private networks: each request carries the key.
 * @param path default of the URL
 * @param rules.onlyPublic refuses addresses of internal networks; names are checked at each connection
 */
export function apiAddress(
	text: string,
	path: string,
	{ onlyTls, onlyPublic }: { onlyTls: boolean; onlyPublic: boolean }
): ApiAddress {
	const wrong = (problem: string): ApiAddress => ({ address: '', problem });
	if (text.length > MAX_API_LENGTH || !URL.canParse(text)) {
		return wrong('use a URL, for example https://10.8.0.2');
	}
	const url = new URL(text);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		return wrong('begin the URL with https:// or http://');
	}
	if (url.username !== '' || url.password !== '') {
		return wrong('leave the username and password out of the URL; the key comes in a file');
	}
	if (url.search !== '' || url.hash !== '') return wrong('leave out ? and # and everything behind them');
	if (url.protocol === 'http:') {
		if (onlyTls) return wrong('use https; --api-insecure allows http in a private network');
		if (onlyPublic || !isPrivateHost(url.hostname))
			return wrong('use https; http is allowed in private networks only');
	}
	if (onlyPublic && isPrivateHost(url.hostname)) return wrong('use a public address');
	const own = url.pathname.replace(/\/+$/, '');
	return { address: `${url.origin}${own === '' ? path : own}`, problem: null };
}

function isPrivateHost(hostname: string): boolean {
	const host = hostname.replace(/^\[|\]$/g, '');
	return host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host));
}
