import type { Queries, Tx } from '../db/database.ts';
import type { RegisteredGateway } from './gateway-record.ts';
import { type Gateways, readSettings } from './gateway-record.ts';
import * as store from './store.ts';

/**
 * Access points of UniFi, whose redirects carry no secret: the MAC address decides whose prices a guest sees. Anyone can
 * register one. While gateways of two accounts have it, it sells for neither; an administrator decides whose it is.
 */

/** Why a gateway does not sell at one of its access points. `disputed`: nobody has decided. `lost`: another account has it. */
export interface Claim {
	accessPoint: string;
	state: 'disputed' | 'lost';
	/** Routers of the other accounts that have it. */
	rivals: number[];
}

/** Returns the claims against a gateway, by default on any of its access points. */
export async function findClaims(
	queries: Queries,
	{ id, kind, routerId, settings }: Pick<RegisteredGateway, 'id' | 'kind' | 'routerId' | 'settings'>,
	accessPoints: readonly string[] = settings.accessPoints ?? []
): Promise<Claim[]> {
	if (kind !== 'unifi' || settings.site === undefined || accessPoints.length === 0) return [];
	const others = (await findGatewaysOfSite(queries, settings.site)).filter(({ row }) => row.id !== id);
	const decided = await store.findDecidedOwners(queries, accessPoints);
	const owners = await store.findOwners(queries, [routerId, ...others.map(({ row }) => row.router_id)]);
	const own = owners.get(routerId);
	return accessPoints.flatMap((accessPoint): Claim[] => {
		const rivals = others
			.filter(({ row, settings: { accessPoints: theirs = [] } }) => {
				return theirs.includes(accessPoint) && owners.get(row.router_id) !== own;
			})
			.map(({ row }) => row.router_id);
		const owner = decided.get(accessPoint);
		if (owner !== undefined) return owner === own ? [] : [{ accessPoint, state: 'lost', rivals }];
		return rivals.length > 0 ? [{ accessPoint, state: 'disputed', rivals }] : [];
	});
}

/** Gives all claimed access points of a router's gateways to the account of the router. */
export async function decideClaims(
	{ database, clock }: Pick<Gateways, 'database' | 'clock'>,
	gateways: readonly RegisteredGateway[],
	audit: (trx: Tx, accessPoints: string[]) => Promise<void>
): Promise<void> {
	await database.transact(async (trx) => {
		for (const gateway of gateways) {
			const claimed = (await findClaims(trx, gateway)).map(({ accessPoint }) => accessPoint);
			const owner = (await store.findOwners(trx, [gateway.routerId])).get(gateway.routerId);
			if (claimed.length === 0 || owner === undefined) continue;
			await store.decideOwner(trx, claimed, { owner_account_id: owner, decided_at: clock.now() });
			await audit(trx, claimed);
		}
	});
}

export async function findGatewaysOfSite(queries: Queries, site: string) {
	const rows = await store.findGatewaysWith(queries, 'site', site);
	return rows
		.map((row) => ({ row, settings: readSettings(row) }))
		.filter(({ settings }) => settings.site === site);
}
