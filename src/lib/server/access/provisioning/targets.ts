import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { DeviceController } from '#lib/server/gateways/gateway.ts';
import type { PassRow } from '../passes/passes.ts';
import type { PlanContext } from './context.ts';
import { devicesOf, type BroughtDevice } from './devices.ts';

export interface Target {
	gateway: RegisteredGateway;
	subject: 'device' | 'user';
}

export const needsGrants = ({ mode }: RegisteredGateway) => mode === 'push' || mode === 'poll';

/** Returns null when the server does not call this gateway. */
export const controllerOf = ({ kind, mode }: RegisteredGateway): DeviceController | null =>
	mode === 'push' ? adapterOf(kind).controller : null;

export async function targetsAt(
	{ gateways }: { gateways: Gateways },
	queries: Queries,
	routerId: number
): Promise<Target[]> {
	const all = await gateways.ofRouter(queries, routerId);
	return all.filter(needsGrants).map((gateway) => ({
		gateway,
		subject: controllerOf(gateway)?.subject ?? 'device'
	}));
}

export const grantsDevices = (targets: readonly Target[], gatewayId: number): boolean =>
	targets.some(({ gateway, subject }) => subject === 'device' && gateway.id === gatewayId);

export async function newestDevice(
	{ clock }: Pick<PlanContext, 'clock'>,
	trx: Tx,
	pass: Pick<PassRow, 'id' | 'router_id'>
): Promise<BroughtDevice | null> {
	const [newest] = await devicesOf(trx, pass, clock.now());
	return newest ?? null;
}

/** Whether a device is at a gateway that needs no grant for it. */
export const signsInItself = (device: BroughtDevice | null, targets: readonly Target[]): boolean =>
	device !== null && targets.every(({ gateway }) => gateway.id !== device.gateway_id);
