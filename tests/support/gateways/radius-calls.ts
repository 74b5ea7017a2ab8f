/** The requests that FreeRADIUS' rlm_rest sends with the configuration of gateways/freeradius.ts. */
import type { RadiusGateway } from './gateways.ts';

export interface RadiusAnswer {
	status: number;
	/** Attributes by their names; {} where there are none. */
	attributes: Record<string, { value: string | number | string[]; op: string; do_xlat?: boolean }>;
}

export interface RadiusCalls {
	authorize(user: string, mac?: string): Promise<RadiusAnswer>;
	postAuth(user: string, mac?: string): Promise<RadiusAnswer>;
	/** Fields as gateways/freeradius.ts names them, each a text. */
	account(status: keyof typeof STATUSES, session: string, more?: Record<string, string>): Promise<number>;
	/** Any body, with any token. */
	send(path: string, body: string, authorization?: string): Promise<Response>;
}

const STATUSES = { start: '1', stop: '2', interim: '3', on: '7', off: '8' } as const;

const FIELDS = [
	...['session', 'user', 'mac', 'ip', 'nas_address', 'nas_identifier', 'class', 'at', 'delay', 'lasted'],
	...['in', 'in_gigawords', 'out', 'out_gigawords', 'cause']
];

export function radiusCalls(url: string, { key, token }: Pick<RadiusGateway, 'key' | 'token'>): RadiusCalls {
	const send = (path: string, body: string, authorization = `Bearer ${token}`) =>
		fetch(`${url}/radius/${key}/${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization },
			body
		});
	async function login(path: string, user: string, mac: string): Promise<RadiusAnswer> {
		const response = await send(path, JSON.stringify({ user, mac }));
		const text = await response.text();
		return { status: response.status, attributes: text === '' ? {} : JSON.parse(text) };
	}
	return {
		send,
		authorize: (user, mac = '') => login('authorize', user, mac),
		postAuth: (user, mac = '') => login('post-auth', user, mac),
		async account(status, session, more = {}) {
			const body = {
				...Object.fromEntries(FIELDS.map((name) => [name, ''])),
				status: STATUSES[status],
				session,
				...more
			};
			const response = await send('accounting', JSON.stringify(body));
			await response.arrayBuffer();
			return response.status;
		}
	};
}
