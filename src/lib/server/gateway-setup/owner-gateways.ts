import type { Author } from '#lib/server/audit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { gatewaySecret } from '#lib/server/platform/ids.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type { ConfigPart } from '../gateways/gateway.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { installScript } from '../gateways/opennds-config.ts';
import {
	isOwn,
	MAX_OWN_GATEWAYS,
	ownChange,
	ownInput,
	ownInputOf,
	ROUTER_OS_USER,
	type OwnInput,
	type OwnKind
} from './owner-input.ts';
import { addGateway, configOf, statusOf, type GatewaySetupContext } from './steps.ts';
import { findRouterOrThrow } from '../routers/routers.ts';

interface OwnerContext extends GatewaySetupContext {
	/** Ids of gateways that are tested now. */
	testing: Set<number>;
}

interface Change {
	/** Of the portal. */
	origin: string;
	author: Author;
}

/**
 * The gateways of an owner. Airtill calls them at public addresses only, with keys of their owner, and runs no program.
 * Callers check that the router is the owner's. Every change is in the audit log, without secrets.
 */
export function ownerGateways(services: GatewaySetupContext) {
	const bind = binder({ ...services, testing: new Set<number>() });
	return {
		isOwn,
		inputOf: ownInputOf,
		inputVersion,
		secretsVersion,
		add: bind(add),
		change: bind(change),
		rotate: bind(rotate),
		remove: bind(remove),
		configOf: bind(showConfig),
		test: bind(test)
	};
}

const record = (
	{ audit }: OwnerContext,
	trx: Tx,
	{ by, note }: Author,
	action: string,
	{ id, name, kind, routerId }: RegisteredGateway
) =>
	audit.record(trx, {
		...{ actor: by, action: `gateway.${action}`, reason: note },
		after: { gateway_id: id, gateway: name, kind, router_id: routerId }
	});

/** @throws InputError with every wrong field; field `limit` if the router has MAX_OWN_GATEWAYS */
async function add(
	context: OwnerContext,
	named: { name: string; routerId: number; kind: OwnKind },
	own: OwnInput,
	{ origin, author }: Change
): Promise<RegisteredGateway> {
	const { gateways } = context;
	const { gateway } = await addGateway(context, ownInput(named, own, origin), async (trx, added) => {
		if ((await gateways.ofRouter(trx, added.routerId)).length > MAX_OWN_GATEWAYS) {
			throw new InputError([{ field: 'limit', reason: `a router has at most ${MAX_OWN_GATEWAYS} gateways` }]);
		}
		if ((await findRouterOrThrow(trx, added.routerId)).access_kind !== 'portal_login') {
			throw new InputError([{ field: 'access', reason: 'only portal_login works with this gateway' }]);
		}
		await refuseShared(context, trx, added);
		await record(context, trx, author, 'added', added);
	});
	return gateway;
}

/**
 * Changes a gateway. Its portal address and secrets stay.
 * @param version of the input that the form showed; '' if it is not known
 * @throws InputError with every wrong field; field `moved` if the input is newer
 */
const change = (
	context: OwnerContext,
	gateway: RegisteredGateway,
	own: OwnInput,
	author: Author,
	version = ''
) =>
	context.access.changeGateway(gateway.id, ownChange(gateway, own), async (trx, after) => {
		const current = inputVersion(gateway);
		// They are the same if the form was sent twice.
		if (version !== '' && version !== current && inputVersion(after) !== current) {
			throw new InputError([{ field: 'moved', reason: 'somebody else has changed the gateway' }]);
		}
		await refuseShared(context, trx, after);
		await record(context, trx, author, 'changed', after);
	});

/**
 * Replaces the secrets. The portal address stays, unless it cannot be read.
 * @param apiKey UniFi: the new key of the console
 * @throws InputError
 */
function rotate(
	context: OwnerContext,
	gateway: RegisteredGateway,
	apiKey: string,
	author: Author
): Promise<RegisteredGateway> {
	const { id, kind, credentials, unreadable } = gateway;
	const generated = kind === 'opennds' ? 'new' : null;
	const rotation = {
		...{ key: unreadable.includes('--key'), radiusSecret: null, secret: generated, token: generated },
		apiKey: kind === 'opennds' ? null : kind === 'mikrotik' ? gatewaySecret() : apiKey,
		apiUser: kind === 'mikrotik' ? (credentials.apiUser ?? ROUTER_OS_USER) : null
	};
	return context.gateways.rotate(id, rotation, (trx) => record(context, trx, author, 'rotated', gateway));
}

/** @throws InputError with the field `in_use` while buyers need it, otherwise if an offer needs it */
const remove = (context: OwnerContext, gateway: RegisteredGateway, author: Author) =>
	context.access.removeForOwner(gateway, (trx) => record(context, trx, author, 'removed', gateway));

/** Returns the configuration with its secrets, and records who saw it. */
async function showConfig(
	context: OwnerContext,
	gateway: RegisteredGateway,
	{ origin, author }: Change
): Promise<ConfigPart[]> {
	const parts = await configOf(context, gateway, { origin });
	await context.database.transact((trx) => record(context, trx, author, 'config_shown', gateway));
	return gateway.kind === 'opennds'
		? [installScript(parts, new URL(origin).hostname, gateway.settings.level ?? 1), ...notesOf(parts)]
		: parts;
}

/** Tests a gateway, once at a time. */
async function test(
	context: OwnerContext,
	gateway: RegisteredGateway
): Promise<{ result: TestResult; problems: readonly string[] }> {
	const { testing } = context;
	if (gateway.mode !== 'push') {
		const { seenAt, unresponsiveSince } = gateway;
		if (seenAt === null) return { result: 'unseen', problems: [] };
		return { result: unresponsiveSince === null ? 'seen' : 'unreachable', problems: [] };
	}
	if (testing.has(gateway.id)) return { result: 'busy', problems: [] };
	testing.add(gateway.id);
	try {
		const status = await statusOf(context, gateway);
		const problems = status?.problems ?? [];
		if (!status?.reachable) return { result: 'unreachable', problems };
		return { result: problems.length === 0 ? 'ready' : 'unready', problems };
	} finally {
		testing.delete(gateway.id);
	}
}

/** Names what a form shows of a gateway. */
const inputVersion = (gateway: RegisteredGateway): string => sha256(JSON.stringify(ownInputOf(gateway)));

/** Names its secrets, so that a form that comes again replaces none. */
const secretsVersion = ({ secret, credentials }: RegisteredGateway): string =>
	sha256(JSON.stringify([secret, credentials]));

export type TestResult = 'ready' | 'unready' | 'unreachable' | 'seen' | 'unseen' | 'busy';

const notesOf = (parts: readonly ConfigPart[]) => parts.filter(({ file }) => file === null);

/**
 * A grant at one gateway of a console counts at all of them: another owner's console would mix their buyers.
 */
async function refuseShared(
	{ gateways }: GatewaySetupContext,
	trx: Tx,
	gateway: RegisteredGateway
): Promise<void> {
	const { owner_account_id: owner } = await findRouterOrThrow(trx, gateway.routerId);
	for (const routerId of new Set(await gateways.routersSharing(trx, gateway))) {
		if ((await findRouterOrThrow(trx, routerId)).owner_account_id === owner) continue;
		throw new InputError([{ field: 'shared', reason: 'another account has a gateway with this console' }]);
	}
}
