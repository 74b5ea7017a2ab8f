/** A client of the API that takes every answer as it comes, and none as well: its server is killed now and then. */
export interface Heard {
	/** 0: nobody answered, or not to the end. */
	status: number;
	body: Readonly<Record<string, unknown>>;
}

export interface Client {
	send(method: string, path: string, request?: { body?: object; key?: string | null }): Promise<Heard>;
}

const LIMIT_MS = 30_000;

/** @param apiKey of an account */
export function createClient(url: string, apiKey: string): Client {
	return {
		async send(method, path, { body, key = null } = {}) {
			try {
				const response = await fetch(url + path, {
					method,
					headers: {
						authorization: `Bearer ${apiKey}`,
						...(body ? { 'content-type': 'application/json' } : {}),
						...(key === null ? {} : { 'idempotency-key': key })
					},
					...(body ? { body: JSON.stringify(body) } : {}),
					signal: AbortSignal.timeout(LIMIT_MS)
				});
				const text = await response.text();
				return { status: response.status, body: text === '' ? {} : Object(JSON.parse(text)) };
			} catch {
				return { status: 0, body: {} };
			}
		}
	};
}
