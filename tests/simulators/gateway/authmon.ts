import { createHash } from 'node:crypto';

/**
 * openNDS' authmon as its sources say (libs/authmon.sh): `view`, an `ndsctl auth` for each item, `view` again with those
 * that were let in. Version 10 asks in the query (level 4), version 9.10 in a form (level 3).
 */
export interface Authmon {
	/** Minutes for each rhid that was let in. */
	readonly online: ReadonlyMap<string, number>;
	/** `clear`, as at its start. @returns the body */
	clear(): Promise<string>;
	/** One round. @returns what the portal answered to both questions */
	poll(): Promise<{ items: string; ack: string }>;
	/** Any question. */
	ask(question: Record<string, string>): Promise<{ status: number; body: string }>;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Items that it takes in one go, and what it reads of an answer. */
const MAX_ITEMS = 4;
const MAX_LENGTH = 1_024;

export function createAuthmon(
	portal: string,
	version: '9.10.0' | '10.3.0',
	/** Whether the router knows a client of that rhid. Lets nobody in by default. */
	knows: (rhid: string) => boolean = () => false,
	/** The BinAuth script, which openNDS runs for each client that it lets in, with what its item carried. */
	binauth: (rhid: string, custom: string) => Promise<unknown> = () => Promise.resolve()
): Authmon {
	const gatewayhash = createHash('sha256').update('Stand-in%20Node%3a02aabbccddee').digest('hex');
	const online = new Map<string, number>();

	async function ask(question: Record<string, string>) {
		const fields = new URLSearchParams({ gatewayhash, ...question });
		const headers = { 'user-agent': `openNDS(authmon;NDS:${version};)`, accept: '*/*' };
		// Version 10 escapes nothing; its base64 holds nothing worse than a plus sign.
		const query = Object.entries({ gatewayhash, ...question }).map(([name, value]) => `${name}=${value}`);
		const response = version.startsWith('10')
			? await fetch(`${portal}?${query.join('&')}`, { headers })
			: await fetch(portal, { method: 'POST', headers, body: fields });
		return { status: response.status, body: await response.text() };
	}
	const asked = async (auth_get: string, payload: string) =>
		(await ask({ auth_get, payload: base64(payload) })).body;

	/** `ndsctl auth`: a client that is online already is not taken again. */
	function auth(item: string): { rhid: string; custom: string } | null {
		const [rhid = '', minutes = '', ...rest] = decodeURIComponent(item).split(' ');
		const isSafe = /^[0-9a-f]{64} \d+ \d+ \d+ \d+ \d+ [A-Za-z0-9+/]+=*$/.test(
			[rhid, minutes, ...rest].join(' ')
		);
		if (!isSafe) throw new Error(`A shell would be given: ${item}`);
		if (!knows(rhid) || online.has(rhid)) return null;
		online.set(rhid, Number(minutes));
		return { rhid, custom: rest.at(-1) ?? '' };
	}

	return {
		online,
		ask,
		clear: () => asked('clear', 'none'),
		async poll() {
			const items = await asked('view', 'none');
			const list = items.startsWith('*') ? items.slice(2, 2 + MAX_LENGTH) : '';
			const done = list
				.split(/\s+/)
				.filter((item) => item !== '')
				.slice(0, MAX_ITEMS)
				.flatMap((item) => auth(item) ?? []);
			for (const { rhid, custom } of done) await binauth(rhid, custom);
			return { items, ack: await asked('view', ['*', ...done.map(({ rhid }) => rhid)].join(' ')) };
		}
	};
}
