import { redirect, type Behaviour, type Gate } from './device.ts';

/** UniFi sends devices to the portal's host, at a path of its own, and knows no sign-in of a browser. */
export const unifi = (gate: Gate): Behaviour => ({
	intercept(asked) {
		const query = new URLSearchParams({
			ap: '02:aa:bb:cc:dd:ee',
			id: gate.device.mac,
			t: '1763700000',
			url: asked,
			ssid: gate.connection.ssid
		});
		return redirect(302, `${gate.connection.portal}?${query}`);
	},
	own: async () => null
});
