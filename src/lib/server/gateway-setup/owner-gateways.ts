import type { Author } from '#lib/server/audit/audit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { gatewaySecret } from '#lib/server/platform/ids.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type { ConfigPart } from '../gateways/gateway.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { installScript } from '../gateways/opennds/install-script.ts';
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
import { addGateway, configOf, statusOf, type Apply, type GatewaySetupContext } from './steps.ts';

/**
 * The gateways of an owner. Airtill calls them at public addresses only, with keys of their owner, and runs no program.
 * Callers check that the router is the owner's. Every change is in the audit log, without secrets.
 */
export function ownerGateways(context: GatewaySetupContext) {
	const { access, audit, gateways, routers } = context;
	const testing = new Set<number>();

	const record = (
		trx: Tx,
		{ by, note }: Author,
		action: string,
		{ id, name, kind, routerId }: RegisteredGateway
	) =>
		audit.record(trx, {
			...{ actor: by, action: `gateway.${action}`, reason: note },
			after: { gateway_id: id, gateway: name, kind, router_id: routerId }
		});

	const checked =
		(author: Author, action: string): Apply =>
		async (trx, gateway) => {
			await refuseShared(context, trx, gateway);
			await record(trx, author, action, gateway);
		};

	return {
		isOwn,
		inputOf: ownInputOf,
		/** @throws InputError with every wrong field; field `limit` if the router has MAX_OWN_GATEWAYS */
		async add(
			named: { name: string; routerId: number; kind: OwnKind },
			own: OwnInput,
			{ origin, author }: { origin: string; author: Author }
		): Promise<RegisteredGateway> {
			const apply = checked(author, 'added');
			const { gateway } = await addGateway(context, ownInput(named, own, origin), async (trx, added) => {
				if ((await gateways.ofRouter(trx, added.routerId)).length > MAX_OWN_GATEWAYS) {
					throw new InputError([
						{ field: 'limit', reason: `a router has at most ${MAX_OWN_GATEWAYS} gateways` }
					]);
				}
				if ((await routers.findOrThrow(trx, added.routerId)).access_kind !== 'portal_login') {
					throw new InputError([{ field: 'access', reason: 'only portal_login works with this gateway' }]);
				}
				await apply(trx, added);
			});
			return gateway;
		},
		/**
		 * Its portal address and secrets stay.
		 * @param version of the input that the form showed; '' if it is not known
		 * @throws InputError with every wrong field; field `moved` if the input is newer
		 */
		change: (gateway: RegisteredGateway, own: OwnInput, author: Author, version = '') =>
			access.changeGateway(gateway.id, ownChange(gateway, own), async (trx, after) => {
				const current = inputVersion(gateway);
				// They are the same if the form was sent twice.
				if (version !== '' && version !== current && inputVersion(after) !== current) {
					throw new InputError([{ field: 'moved', reason: 'somebody else has changed the gateway' }]);
				}
				await checked(author, 'changed')(trx, after);
			}),
		inputVersion,
		/** Names its secrets, so that a form that comes again replaces none. */
		secretsVersion: ({ secret, credentials }: RegisteredGateway) =>
			sha256(JSON.stringify([secret, credentials])),
		/**
		 * Its portal address stays, unless it cannot be read.
		 * @param apiKey UniFi: the new key of the console
		 * @throws InputError
		 */
		rotate(gateway: RegisteredGateway, apiKey: string, author: Author): Promise<RegisteredGateway> {
			const { id, kind, credentials, unreadable } = gateway;
			const generated = kind === 'opennds' ? 'new' : null;
			const rotation = {
				...{ key: unreadable.includes('--key'), radiusSecret: null, secret: generated, token: generated },
				apiKey: kind === 'opennds' ? null : kind === 'mikrotik' ? gatewaySecret() : apiKey,
				apiUser: kind === 'mikrotik' ? (credentials.apiUser ?? ROUTER_OS_USER) : null
			};
			return gateways.rotate(id, rotation, (trx) => record(trx, author, 'rotated', gateway));
		},
		/** @throws InputError with the field `in_use` while buyers need it, otherwise if an offer needs it */
		remove: (gateway: RegisteredGateway, author: Author) =>
			access.removeForOwner(gateway, (trx) => record(trx, author, 'removed', gateway)),
		/** Returns the configuration with its secrets, and records who saw it. */
		async configOf(
			gateway: RegisteredGateway,
			{ origin, author }: { origin: string; author: Author }
		): Promise<ConfigPart[]> {
			const parts = await configOf(context, gateway, { origin });
			await context.database.transact((trx) => record(trx, author, 'config_shown', gateway));
			return gateway.kind === 'opennds'
				? [installScript(parts, new URL(origin).hostname, gateway.settings.level ?? 1), ...notesOf(parts)]
				: parts;
		},
		/** One test of a gateway at a time. */
		async test(gateway: RegisteredGateway): Promise<{ result: TestResult; problems: readonly string[] }> {
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
	};
}

/** Names what a form shows of a gateway. */
const inputVersion = (gateway: RegisteredGateway): string => sha256(JSON.stringify(ownInputOf(gateway)));

export type TestResult = 'ready' | 'unready' | 'unreachable' | 'seen' | 'unseen' | 'busy';

const notesOf = (parts: readonly ConfigPart[]) => parts.filter(({ file }) => file === null);

/**
 * A grant at one gateway of a console counts at all of them: another owner's console would mix their buyers.
 */
async function refuseShared(
	{ gateways, routers }: GatewaySetupContext,
	trx: Tx,
	gateway: RegisteredGateway
): Promise<void> {
	const { owner_account_id: owner } = await routers.findOrThrow(trx, gateway.routerId);
	for (const routerId of new Set(await gateways.routersSharing(trx, gateway))) {
		if ((await routers.findOrThrow(trx, routerId)).owner_account_id === owner) continue;
		throw new InputError([{ field: 'shared', reason: 'another account has a gateway with this console' }]);
	}
}
