import type { App } from '#lib/server/app.ts';
import { pageOfRouters } from '#lib/server/routers/routers.ts';

/** Reads the name of a router. Returns null if it does not exist. */
export async function routerName(app: App, id: number): Promise<string | null> {
	const [row] = await pageOfRouters(app.database.db, id - 1, 1);
	return row?.id === id ? row.name : null;
}
