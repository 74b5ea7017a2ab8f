import { DAY_MS } from '#lib/domain/time.ts';
import type { Author } from './audit.ts';
import { isoTime } from './platform/clock.ts';
import type { Base } from './base.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Queries } from './db/database.ts';
import { DELETED_NUMBER } from '#lib/domain/phone.ts';

/**
 * Deletes personal data when its retention ends.
 *
 * Policy: sessions, payments, refunds and passes stay, because earnings and accounts need them. They lose the phone
 * number, the code of the address and the operator's messages, once no money of the session is open. Data of devices
 * is deleted.
 * Guarantees: a run deletes at most a batch of each kind and can be repeated, also by several processes at once.
 */

/** Scheduled by the first migration. */
const DELETION_JOB = 'personal-data.delete';
const EVERY_MS = 60_000;
/** While a run finds a full batch. */
const AGAIN_MS = 1_000;

/** Of an exported address in the audit log, which is never deleted. */
const LAST_CHARACTERS = 5;

interface Export extends Author {
	records: readonly AccessRecord[];
	/** Of the encrypted file, hex. */
	sha256: string;
}

interface PersonalDataContext extends Pick<Base, 'database' | 'clock' | 'audit'> {
	config: Pick<Base['config'], 'keepDays'>;
}

/** Without the fence: a second run deletes nothing that the first would keep. */
export const personalDataJobs = (context: PersonalDataContext) => ({
	[DELETION_JOB]: () => deleteOld(context)
});

/** @returns when to run again */
async function deleteOld({ database, clock, config: { keepDays } }: PersonalDataContext): Promise<number> {
	const now = clock.now();
	const numbersBefore = now - keepDays.numbers * DAY_MS;
	const isLeft = [
		await deleteDevices(database.db, now, keepDays.devices),
		await deleteNumbersOfSessions(database, numbersBefore),
		await deleteNumbersOfPurchases(database.db, numbersBefore)
	];
	return clock.now() + (isLeft.includes(true) ? AGAIN_MS : EVERY_MS);
}

/** Names the sessions instead of the address, because the audit log is never deleted. */
export const recordExport = (
	{ audit, database }: PersonalDataContext,
	{ kind, address, from, to }: RecordSearch,
	{ by, note, records, sha256 }: Export
): Promise<void> =>
	database.transact((trx) =>
		audit.record(trx, {
			...{ actor: by, action: 'personal-data.exported', reason: note },
			after: {
				[kind]: `…${address.slice(-LAST_CHARACTERS)}`,
				...{ from: isoTime(from), to: isoTime(to), rows: records.length, sha256 },
				sessions: [...new Set(records.map(({ session_id }) => session_id))]
			}
		})
	);

/** The addresses that Airtill stores. NAT hides them from the internet. */
export type AddressKind = 'phone' | 'mac' | 'ip';

interface RecordSearch {
	kind: AddressKind;
	/** In the stored form: E.164, `aa:bb:cc:dd:ee:ff`, or an IP address. */
	address: string;
	/** First instant, and the first after the end. */
	from: number;
	to: number;
}

export const RECORD_COLUMNS = [
	'payer',
	'session_id',
	'pass_id',
	'operator',
	'operator_transaction',
	'session_start',
	'session_end',
	'router_id',
	'router',
	'router_address',
	'gateway',
	'mac',
	'ip',
	'device_start',
	'device_end',
	'source'
] as const;

type Instant = Extract<(typeof RECORD_COLUMNS)[number], `${string}_${'start' | 'end'}`>;

/** The columns of a device are null if nothing is known of one. */
export type AccessRecord = Record<Exclude<(typeof RECORD_COLUMNS)[number], Instant>, string | number | null> &
	Record<Instant, number | null>;

const COLUMN = { phone: sql`payments.phone`, mac: sql`devices.mac`, ip: sql`devices.ip` };

/**
 * Lists access within the span, with one row per session and record of a device. A `visit` has the address that the
 * browser reported, which may be false. Reads whole tables.
 */
export async function findAccessRecords({ db }: Database, { kind, address, from, to }: RecordSearch) {
	const end = sql`coalesce(sessions.ended_at, sessions.expires_at)`;
	const { rows } = await sql<AccessRecord>`
		with devices (pass_id, gateway_id, mac, ip, device_start, device_end, source) as (
			select pass_id, gateway_id, mac, ip, started_at, coalesce(stopped_at, seen_at), 'connection' from connections
			union all
			select pass_id, gateway_id, mac, null, allowed_at, allowed_until, 'admission'
				from admissions where allowed_at is not null
			union all
			select pass_id, gateway_id, mac, null, bound_at, coalesce(released_at, reported_at), 'device slot'
				from device_slots
			union all
			select sessions.pass_id, visits.gateway_id, client_mac, client_ip, visits.created_at,
					coalesce(visits.bound_at, visits.created_at), 'visit'
				from captive_sessions visits
				join purchases on purchases.token_hash = visits.purchase_token_hash
				join sessions on sessions.id = purchases.session_id
		)
		select payments.phone as payer, sessions.id as session_id, sessions.pass_id, payments.operator,
			payments.provider_reference as operator_transaction, sessions.starts_at as session_start, ${end} as session_end,
			routers.id as router_id, routers.name as router, routers.address as router_address,
			gateways.name as gateway, mac, ip, device_start, device_end, source
		from sessions
		join payments on payments.session_id = sessions.id and payments.applied = 1
		join routers on routers.id = sessions.router_id
		left join devices on devices.pass_id = sessions.pass_id
			and device_start < ${end} and device_end >= sessions.created_at
			and device_start < ${to} and device_end >= ${from}
		left join gateways on gateways.id = devices.gateway_id
		where sessions.starts_at < ${to} and ${end} >= ${from} and ${COLUMN[kind]} = ${address}
		order by sessions.id, device_start`.execute(db);
	return rows;
}

/** Rows per statement, which keeps it short. */
const MAX_ROWS = 1_000;
/** Per transaction, each with its payments. */
const MAX_SESSIONS = 200;

/** For released device slots: time at a router is sold for at most 30 days. */
const RELEASED_DAYS = 32;
/** A repeated request gets its stored answer for this long (idempotency/). */
const ANSWER_DAYS = 1;

/** @returns whether more may be left */
async function deleteDevices(queries: Queries, now: number, keepDays: number): Promise<boolean> {
	const daysAgo = (days: number) => now - days * DAY_MS;
	const before = daysAgo(keepDays);
	const textOf = (at: number) => new Date(at).toISOString();
	await sql`delete from idempotent_answers where created_at < ${daysAgo(ANSWER_DAYS)}`.execute(queries);
	const isNotExpected = sql`(expected_until is null or expected_until < ${before})`;
	const isOver = sql`released_at < ${before} and sent_until is null`;
	const old: readonly Old[] = [
		{ table: 'connections', column: 'seen_at', before },
		{ table: 'sign_in_sessions', column: 'expires_at', before: textOf(now) },
		{ table: 'captive_sessions', column: 'expires_at', before: now },
		{ table: 'device_slots', column: 'released_at', before: daysAgo(RELEASED_DAYS) },
		{ table: 'device_slots', column: 'reported_at', before, condition: isNotExpected },
		{ table: 'admissions', column: 'created_at', before, condition: isOver }
	];
	let isLeft = false;
	for (const rows of old) isLeft = (await deleteOldest(queries, rows)) || isLeft;
	return isLeft;
}

interface Old {
	table: string;
	column: string;
	before: number | string;
	condition?: RawBuilder<unknown>;
}

async function deleteOldest(queries: Queries, { table, column, before, condition = sql`true` }: Old) {
	const { numAffectedRows = 0n } = await sql`
		delete from ${sql.table(table)} where id in (select id from ${sql.table(table)}
			where ${sql.ref(column)} < ${before} and ${condition} order by ${sql.ref(column)} limit ${MAX_ROWS})`.execute(
		queries
	);
	return numAffectedRows >= MAX_ROWS;
}

// A literal, so that both databases use the partial indexes.
const WITH_NUMBER = sql<boolean>`phone <> ${sql.lit(DELETED_NUMBER)}`;

/** Finds ended sessions without a review of their money. */
const oldSessions = (queries: Queries, before: number) =>
	queries
		.selectFrom('sessions')
		.select('id')
		.where(WITH_NUMBER)
		.where('created_at', '<', before)
		.where('updated_at', '<', before)
		.where('status', 'in', ['expired', 'ended', 'cancelled'])
		.where(
			sql<boolean>`not exists (select 1 from payments where payments.session_id = sessions.id and (
				payments.status in ('pending', 'refund_pending', 'refund_failed') or payments.updated_at >= ${before}
				or exists (select 1 from reviews where payment_id = payments.id and resolved_at is null)))`
		)
		.orderBy('created_at')
		.limit(MAX_SESSIONS)
		.execute();

/**
 * Deletes the payer's numbers of sessions and their payments, with everything else that leads to the payer.
 * @returns whether more may be left
 */
async function deleteNumbersOfSessions(database: Database, before: number): Promise<boolean> {
	// Read first: a transaction of each run would delay writers on SQLite.
	if ((await oldSessions(database.db, before)).length === 0) return false;
	return database.transact(async (trx) => {
		const ids = (await oldSessions(trx, before)).map(({ id }) => id);
		if (ids.length === 0) return false;
		const payments = trx.selectFrom('payments').select('id').where('session_id', 'in', ids);
		await trx.deleteFrom('operator_messages').where('payment_id', 'in', payments).execute();
		await trx
			.updateTable('payments')
			.set({ phone: DELETED_NUMBER, network: null })
			.where('session_id', 'in', ids)
			.execute();
		await trx.updateTable('sessions').set({ phone: DELETED_NUMBER }).where('id', 'in', ids).execute();
		return ids.length >= MAX_SESSIONS;
	});
}

/** @returns whether more may be left */
async function deleteNumbersOfPurchases(queries: Queries, before: number): Promise<boolean> {
	const old = queries
		.selectFrom('purchases')
		.select('id')
		.where(WITH_NUMBER)
		.where('created_at', '<', before)
		.where('updated_at', '<', before)
		.orderBy('created_at')
		.limit(MAX_ROWS);
	const { numUpdatedRows } = await queries
		.updateTable('purchases')
		.set({ phone: DELETED_NUMBER, number_hash: null, asked_from: null })
		.where('id', 'in', old)
		.executeTakeFirstOrThrow();
	return numUpdatedRows >= MAX_ROWS;
}
