import { createHash } from 'node:crypto';
import { redirect, type Answer, type Behaviour, type Device, type Gate } from './device.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/**
 * openNDS 9.10 at level 1, as it was observed: the list in base64 with its junk at the end, the base64 not escaped in
 * the query, and a sign-in that is nothing but the right `tok`.
 */
export function opennds(gate: Gate): Behaviour {
	let joined: Device | null = null;
	let token = '';

	/** A device keeps its token until it joins again. */
	function hid(): string {
		if (gate.device !== joined) token = gate.random(4).toString('hex');
		joined = gate.device;
		return sha256(token);
	}

	function toPortal(asked: string): Answer {
		const { mac, ip } = gate.device;
		const items = [
			`hid=${hid()}`,
			`clientip=${ip}`,
			`clientmac=${mac}`,
			'client_type=cpd_can',
			`gatewayname=${encodeURIComponent('Stand-in Node:02aabbccddee ')}`,
			`gatewayurl=${encodeURIComponent(gate.url)}`,
			'version=9.10.0',
			`gatewayaddress=${gate.host}`,
			'gatewaymac=02aabbccddee',
			`originurl=${encodeURIComponent(asked)}`,
			'clientif=wlan0 eth0',
			'themespec=(null)',
			'(null)(null)(null)(null)'
		];
		return redirect(302, `${gate.connection.portal}?fas=${Buffer.from(items.join(', ')).toString('base64')}`);
	}

	return {
		intercept: toPortal,
		async own(path, query) {
			if (path !== '/opennds_auth/') return null;
			const landing = query.get('redir') ?? '';
			const isRight = query.get('tok') === sha256(hid() + gate.connection.secret);
			const user = Buffer.from(query.get('custom') ?? '', 'base64').toString();
			gate.signIn({ user, isRight });
			return isRight ? redirect(307, landing) : toPortal(`${gate.url}${path}?${query}`);
		}
	};
}
