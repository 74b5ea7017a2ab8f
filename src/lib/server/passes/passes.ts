import { dataLeft } from '#lib/domain/data-limit.ts';
import type { Base } from '#lib/server/base.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { wifiPassword } from '#lib/server/platform/ids.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import { isOpen } from './pass-state.ts';
import { unsealPassword, sealPassword } from './passwords.ts';
import * as store from './store.ts';

export type PassRow = store.PassRow;

/** The session fields that its pass takes over. */
type BoughtTime = Pick<
	PassRow,
	'id' | 'router_id' | 'access_kind' | 'max_devices' | 'speed_down_kbps' | 'speed_up_kbps' | 'data_limit_mb'
>;

interface PassesContext extends Base {
	routers: Pick<Routers, 'findOrThrow' | 'networkPassword'>;
}

export type Passes = ReturnType<typeof createPasses>;

/** A pass is the right to be online at a router from start to end, under one password. */
export function createPasses(context: PassesContext) {
	const { clock, secrets } = context;
	const bind = binder(context);
	return {
		findOrThrow,
		findAll: store.findAll,
		isOpen: (pass: PassRow) => isOpen(pass, clock.now()),
		create: bind(create),
		addTerms: bind(addTerms),
		addUsedData: bind(addUsedData),
		/** Takes the data of a refunded or cancelled session back. */
		async reduceDataLimit(trx: Tx, id: number, megabytes: number | null): Promise<void> {
			const { data_limit_mb: limit } = await findOrThrow(trx, id);
			if (limit === null || megabytes === null) return;
			await store.change(trx, id, { data_limit_mb: limit - megabytes, updated_at: clock.now() });
		},
		/** Sets the deadline for a gateway to confirm the pass (ms since the epoch). */
		async setActivationDeadline(trx: Tx, id: number, until: number): Promise<void> {
			await store.change(trx, id, { activating_until: until, updated_at: clock.now() });
		},
		async setTime(trx: Tx, id: number, { startsAt, endsAt }: { startsAt: number; endsAt: number }) {
			const to = { starts_at: startsAt, ends_at: endsAt, activating_until: null };
			await store.change(trx, id, { ...to, updated_at: clock.now() });
		},
		reopen: bind(reopen),
		shorten: bind(shorten),
		eraseIfOver: bind(eraseIfOver),
		/** @throws Error when the password was erased */
		passwordOf(pass: PassRow): string {
			const password = unsealPassword(secrets, pass);
			if (password === null) throw new Error(`Pass ${pass.id} has no password`);
			return password;
		},
		sharePassword: bind(sharePassword)
	};
}

async function findOrThrow(queries: Queries, id: number): Promise<PassRow> {
	const pass = await store.find(queries, id);
	if (!pass) throw new Error(`Pass ${id} is gone`);
	return pass;
}

async function create(context: PassesContext, trx: Tx, bought: BoughtTime): Promise<PassRow> {
	const now = context.clock.now();
	const { id, router_id, access_kind, max_devices, speed_down_kbps, speed_up_kbps, data_limit_mb } = bought;
	const password = await newPassword(context, trx, bought);
	return store.insert(trx, {
		...{ id, router_id, access_kind, max_devices },
		...{ speed_down_kbps, speed_up_kbps, data_limit_mb },
		...sealPassword(context.secrets, id, password),
		...{ created_at: now, updated_at: now }
	});
}

/** Opens a pass that is over until `endsAt` (ms since the epoch), with a new password: the old one was erased. */
async function reopen(context: PassesContext, trx: Tx, pass: PassRow, endsAt: number): Promise<void> {
	const password = sealPassword(context.secrets, pass.id, await newPassword(context, trx, pass));
	await store.change(trx, pass.id, { ...password, ends_at: endsAt, updated_at: context.clock.now() });
}

const newPassword = async (
	context: PassesContext,
	trx: Tx,
	pass: Pick<PassRow, 'router_id' | 'access_kind'>
) => (await sharedPassword(context, trx, pass)) ?? wifiPassword();

async function sharedPassword(
	{ routers }: PassesContext,
	trx: Tx,
	{ router_id, access_kind }: Pick<PassRow, 'router_id' | 'access_kind'>
) {
	return access_kind === 'shared_password'
		? routers.networkPassword(await routers.findOrThrow(trx, router_id))
		: null;
}

/** Adopts the access kind of a session that adds time, its device limit if that is higher, and adds its data. */
async function addTerms(context: PassesContext, trx: Tx, pass: PassRow, bought: BoughtTime): Promise<void> {
	const { id, access_kind: before } = pass;
	const { access_kind } = bought;
	const max_devices = Math.max(pass.max_devices, bought.max_devices);
	const data_limit_mb = pass.data_limit_mb === null ? null : pass.data_limit_mb + (bought.data_limit_mb ?? 0);
	const isSame = max_devices === pass.max_devices && data_limit_mb === pass.data_limit_mb;
	if (access_kind === before && isSame) return;
	// Security: a buyer who leaves shared_password must not keep the owner's password.
	const replacement =
		access_kind === before
			? null
			: ((await sharedPassword(context, trx, bought)) ??
				(before === 'shared_password' ? wifiPassword() : null));
	await store.change(trx, id, {
		...{ access_kind, max_devices, data_limit_mb, updated_at: context.clock.now() },
		...(replacement !== null && sealPassword(context.secrets, id, replacement))
	});
}

/** Adds bytes that a device used, if that is possible. Returns whether a running pass has no data left. */
async function addUsedData({ clock }: PassesContext, trx: Tx, id: number, bytes: number): Promise<boolean> {
	const now = clock.now();
	const pass = await store.addUsedData(trx, id, bytes, now);
	return pass !== null && pass.activating_until === null && isOpen(pass, now) && dataLeft(pass) === 0;
}

/** Ends the pass with its last active session. Without one, the pass is over and its password is erased. */
async function shorten(context: PassesContext, trx: Tx, id: number): Promise<void> {
	const now = context.clock.now();
	const { starts_at: startsAt } = await findOrThrow(trx, id);
	const endsAt = (await store.lastActiveEnd(trx, id)) ?? now;
	const time = startsAt === null ? {} : { ends_at: endsAt };
	await store.change(trx, id, { ...time, activating_until: null, updated_at: now });
	await eraseIfOver(context, trx, id);
}

async function eraseIfOver({ clock }: PassesContext, trx: Tx, id: number): Promise<void> {
	const now = clock.now();
	const {
		password_sealed: sealed,
		ends_at: endsAt,
		activating_until: waitsUntil
	} = await findOrThrow(trx, id);
	if (sealed === null || waitsUntil !== null || (endsAt !== null && endsAt > now)) return;
	await store.change(trx, id, { password_sealed: null, password_session_id: null, updated_at: now });
}

async function sharePassword({ clock, secrets }: PassesContext, trx: Tx, routerId: number, password: string) {
	const now = clock.now();
	for (const { id } of await store.sharingPassword(trx, routerId, now)) {
		await store.change(trx, id, { ...sealPassword(secrets, id, password), updated_at: now });
	}
}
