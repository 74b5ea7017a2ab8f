import type { Access } from '#lib/server/access/access.ts';
import type { createAccessKinds } from '#lib/server/passes/access-kinds.ts';
import type { Base } from '#lib/server/base.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { type Offers, requireHeldLimits } from '#lib/server/offers.ts';
import { type Routers, findRouterOrThrow } from '#lib/server/routers/routers.ts';
import { portalAddress, UNKNOWN } from '../gateways/config-text.ts';
import type { ConfigPart, GatewayStatus, GatewayTransport } from '../gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '../gateways/gateways.ts';
import { refuseUnreadable } from '../gateways/gateway-record.ts';
import { adapterOf } from '../gateways/registry.ts';
import type { GatewayChange, GatewayInput } from '../gateways/settings/input.ts';
import { gatewayStatus } from '../gateways/status.ts';

export interface GatewaySetupContext extends Base {
	gateways: Gateways;
	routers: Routers;
	access: Pick<Access, 'scheduleGatewayAdded' | 'changeGateway' | 'removeForOwner'>;
	accessKinds: Pick<ReturnType<typeof createAccessKinds>, 'checkGateway' | 'noteGateway'>;
	offers: Offers;
	transport: GatewayTransport;
}

/** Writes rows in the transaction of the change, which it can refuse. */
type Apply = (trx: Tx, after: RegisteredGateway) => Promise<void>;

/**
 * Registers a gateway, and requests the users of open passes there.
 * @returns `becamePortalLogin`: the router had no access kind of its own choice yet
 * @throws InputError with every wrong field
 */
export async function addGateway(
	{ access, accessKinds, gateways, offers }: GatewaySetupContext,
	input: GatewayInput,
	apply?: Apply
): Promise<{ gateway: RegisteredGateway; becamePortalLogin: boolean }> {
	await accessKinds.checkGateway(input.routerId, input.kind);
	const gateway = await gateways.add(input, async (trx, added) => {
		await requireHeldLimits(offers, trx, added.routerId, { gateway: { before: null, after: added } });
		await access.scheduleGatewayAdded(trx, added);
		await apply?.(trx, added);
	});
	return { gateway, becamePortalLogin: await accessKinds.noteGateway(gateway) };
}

/** Its portal address stays. @throws InputError with every wrong field */
export async function changeGateway(
	{ access, accessKinds }: GatewaySetupContext,
	{ id, kind }: RegisteredGateway,
	change: GatewayChange
): Promise<RegisteredGateway> {
	const { routerId } = change;
	if (routerId !== undefined) await accessKinds.checkGateway(routerId, kind);
	const gateway = await access.changeGateway(id, change);
	if (routerId !== undefined) await accessKinds.noteGateway(gateway);
	return gateway;
}

/** Returns its complete configuration, with its secrets. Parameters: see ConfigContext. @throws InputError without them */
export async function configOf(
	{ config, database }: GatewaySetupContext,
	gateway: RegisteredGateway,
	{
		origin = config.origin,
		apiOrigin = `http://127.0.0.1:${config.port}`,
		radiusServer = UNKNOWN.radius
	}: { origin?: string | null; apiOrigin?: string | undefined; radiusServer?: string | undefined }
): Promise<ConfigPart[]> {
	if (gateway.unreadable.length > 0) refuseUnreadable(gateway);
	const router = await findRouterOrThrow(database.db, gateway.routerId);
	return adapterOf(gateway.kind).configFor(gateway, {
		...{ portal: portalAddress({ origin, port: config.port }), apiOrigin, radiusServer, gateway },
		router: { ssid: router.ssid, hidden: router.hidden === 1, accessKind: router.access_kind }
	});
}

/** Calls the gateway. Returns null for a gateway that Airtill does not call. Does not count as a response. */
export async function statusOf(
	{ gateways, transport }: Pick<GatewaySetupContext, 'gateways' | 'transport'>,
	gateway: RegisteredGateway
): Promise<GatewayStatus | null> {
	const status = await gatewayStatus(gateway, transport);
	const clockOffsetMs = status?.clockOffsetMs ?? null;
	if (clockOffsetMs !== null) await gateways.recordStatus(gateway, { clockOffsetMs });
	return status;
}
