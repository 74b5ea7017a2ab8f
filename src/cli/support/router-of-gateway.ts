import type { App } from '#lib/server/app.ts';
import { pageOfRouters, sells } from '#lib/server/routers/routers.ts';

/** Reads the router of a gateway. Returns null if it does not exist. */
export async function routerOfGateway(app: App, routerId: number) {
	const [row] = await pageOfRouters(app.database.db, routerId - 1, 1);
	if (row?.id !== routerId) return null;
	return {
		ssid: row.ssid,
		accessKind: row.access_kind,
		networkPassword: app.routers.networkPassword(row),
		name: row.name,
		sells: sells(row)
	};
}
