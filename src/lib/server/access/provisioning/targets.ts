import type { Queries, Tx } from '#lib/server/db/database.ts';
import { namesDevices, type Gateways, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { DeviceController } from '#lib/server/gateways/gateway.ts';
import type { PassRow } from '../../passes/passes.ts';
import type { ProvisioningContext } from './context.ts';
import { devicesOf, type BroughtDevice } from './devices.ts';

export const needsGrants = ({ mode }: RegisteredGateway) => mode === 'push' || mode === 'poll';

/** Returns null when the server does not call this gateway. */
export const controllerOf = ({ kind, mode }: RegisteredGateway): DeviceController | null =>
	mode === 'push' ? adapterOf(kind).controller : null;

/** Returns the gateways that need grants, for devices or users. */
export const targetsAt = async (
	{ gateways }: { gateways: Gateways },
	queries: Queries,
	routerId: number
): Promise<RegisteredGateway[]> => (await gateways.ofRouter(queries, routerId)).filter(needsGrants);

export const grantsDevices = (targets: readonly RegisteredGateway[], gatewayId: number): boolean =>
	targets.some((gateway) => gateway.id === gatewayId && namesDevices(gateway));

export async function newestDevice(
	{ clock }: Pick<ProvisioningContext, 'clock'>,
	trx: Tx,
	pass: Pick<PassRow, 'id' | 'router_id'>
): Promise<BroughtDevice | null> {
	const [newest] = await devicesOf(trx, pass, clock.now());
	return newest ?? null;
}

/** Whether a device is at a gateway that needs no grant for it. */
export const signsInItself = (device: BroughtDevice | null, targets: readonly RegisteredGateway[]): boolean =>
	device !== null && targets.every(({ id }) => id !== device.gateway_id);
