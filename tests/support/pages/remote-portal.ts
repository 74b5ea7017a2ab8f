/** A portal whose service is another process, and a buyer at it. */
import { demoKey, SECRET, type Fixture } from '../server/fixture.ts';
import { startServer, type TestServer } from '../server/server.ts';

/** A portal that buys through the fixture's service. */
export async function startRemotePortal({ server }: Fixture): Promise<TestServer> {
	return startServer({
		env: {
			AIRTILL_SECRET: SECRET,
			AIRTILL_API_URL: `${server.url}/v1`,
			AIRTILL_API_KEY: demoKey(server, 'app')
		}
	});
}

/** A buyer by HTTP: what a browser sends, and nothing else. */
export function createBuyer(portal: TestServer) {
	const page = async (path: string, init: RequestInit = {}) => {
		const response = await fetch(portal.url + path, {
			redirect: 'manual',
			...init,
			headers: { accept: 'text/html', origin: portal.url, ...init.headers }
		});
		return { status: response.status, headers: response.headers, text: await response.text() };
	};
	const hidden = (text: string, name: string) =>
		new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
	return {
		page,
		/** The form of a router's page, filled in. */
		async fill(phone: string) {
			const { text } = await page('/r/3');
			const time = /name="time" value="(1h \d+)"/.exec(text)?.[1] ?? '';
			return {
				time,
				paymentMethod: 'mtn_momo',
				phone,
				purchase: hidden(text, 'purchase'),
				asked: '',
				quoted: ''
			};
		},
		post: (path: string, fields: Record<string, string>) =>
			page(path, { method: 'POST', body: new URLSearchParams(fields) }),
		status: async (path: string, wait: number) => {
			const response = await fetch(`${portal.url}${path}/status?wait=${wait}`);
			return {
				status: response.status,
				headers: response.headers,
				...((await response.json()) as { state: string })
			};
		},
		/** Where a page without script goes next, and after how many seconds. */
		refresh: (text: string) => {
			const [, seconds = '', url = ''] = /http-equiv="refresh" content="(\d+); url=([^"]*)"/.exec(text) ?? [];
			return { seconds: Number(seconds), url };
		}
	};
}

export const isPaid = (text: string) => text.includes('Your Wi‑Fi is paid until');
