import type { App } from '#lib/server/app.ts';
import { pageOfRouters, sells } from '#lib/server/routers/routers.ts';

/** The router on which a gateway stands, as far as this installation knows it: not where it sells another's time. */
export async function routerOfGateway(app: App, routerId: number) {
	if (app.config.remoteApi !== null) return null;
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
