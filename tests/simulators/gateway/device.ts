/** The device behind a stand-in gateway, and what every kind of gateway knows of it. */
export interface Device {
	mac: string;
	ip: string;
}

/** Settings of a gateway that is connected to a portal. */
export interface Connection {
	/** Portal address, as `airtill gateways add` prints it. */
	portal: string;
	/** faskey or uamsecret. */
	secret: string;
	/** Wi-Fi name. */
	ssid: string;
	/** The password of a user, as RADIUS would know it; null for nobody. */
	passwordOf(user: string): Promise<string | null>;
}

export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string;
}

export const redirect = (status: 302 | 303 | 307, location: string): Answer => ({
	status,
	headers: { location },
	body: ''
});

export const html = (body: string): Answer => ({
	status: 200,
	headers: { 'content-type': 'text/html; charset=utf-8' },
	body
});

/** One kind of gateway: how it sends a device to the portal, and what it takes for a sign-in. */
export interface Behaviour {
	/** Answer to a device that is not online and asked for `address`. */
	intercept(address: string): Answer;
	/** Answer of the gateway's own pages; null when it has no such page. */
	own(path: string, query: URLSearchParams): Promise<Answer | null>;
}

/** Gives a behaviour its device, and opens the gate for it. */
export interface Gate {
	/** `http://127.0.0.1:<port>` */
	readonly url: string;
	readonly host: string;
	readonly device: Device;
	readonly connection: Connection;
	/** Notes a sign-in and, when it is right, opens the gate. */
	signIn(login: { user: string; isRight: boolean }): void;
	/** Each use is another one, as after each time that a device joins. */
	readonly random: (bytes: number) => Buffer<ArrayBuffer>;
}
