import type { App } from '#lib/server/app.ts';
import { pageOfRouters } from '#lib/server/routers/routers.ts';
import { CommandError } from './errors.ts';

const TIMEOUT_MS = 10_000;

/** The name of a router of the service that this installation sells; null when there is no such router. */
export async function routerName(app: App, id: number): Promise<string | null> {
	const { remoteApi } = app.config;
	if (remoteApi === null) {
		const [row] = await pageOfRouters(app.database.db, id - 1, 1);
		return row?.id === id ? row.name : null;
	}
	let response: Response;
	try {
		response = await fetch(`${remoteApi.url}/routers/${id}`, {
			headers: { authorization: `Bearer ${remoteApi.key}` },
			signal: AbortSignal.timeout(TIMEOUT_MS)
		});
		const body = (await response.json()) as { name?: unknown };
		if (response.ok) return String(body.name);
	} catch (error) {
		throw new CommandError(`AIRTILL_API_URL does not answer: ${remoteApi.url}`, { cause: error });
	}
	if (response.status === 404) return null;
	throw new CommandError(`AIRTILL_API_URL answers with status ${response.status}.`);
}
