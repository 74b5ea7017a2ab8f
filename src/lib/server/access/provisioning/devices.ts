import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { PassRow } from '../../passes/passes.ts';

/** With its newest captive session. */
export interface BroughtDevice {
	captive_session_id: number;
	gateway_id: number;
	mac: string;
	created_at: number;
}

/**
 * Lists the devices on which the pass was bought or opened, newest first. Includes those of a later order that should
 * have replaced it: its payment may arrive before it is cancelled.
 */
export async function devicesOf(
	queries: Queries,
	{ id: passId, router_id: routerId }: Pick<PassRow, 'id' | 'router_id'>,
	now: number
): Promise<BroughtDevice[]> {
	const { rows } = await sql<BroughtDevice>`
		select id as captive_session_id, gateway_id, client_mac as mac, created_at from captive_sessions
		where client_mac is not null and bound_at is not null and expires_at > ${now}
			and gateway_id in (select id from gateways where router_id = ${routerId})
			and purchase_token_hash in (
				select own.token_hash from purchases own join sessions on sessions.id = own.session_id
					where sessions.pass_id = ${passId}
				union
				select later.token_hash from purchases later join sessions on sessions.id = later.replaces_session_id
					where sessions.pass_id = ${passId}
				union
				select first.token_hash from purchases added
					join sessions on sessions.id = added.session_id
					join purchases first on first.id = added.extends_purchase_id
					where sessions.pass_id = ${passId})
		order by bound_at desc, id desc limit ${MAX_ROWS}`.execute(queries);
	const seen = new Set<string>();
	return rows.filter(({ gateway_id, mac }) => {
		const key = `${gateway_id} ${mac}`;
		return !seen.has(key) && seen.add(key);
	});
}

const MAX_ROWS = 20;

/** Lists the passes that run or wait for a gateway, oldest first. Includes added time and a replaced order. */
export async function passesOfPurchase(queries: Queries, tokenHash: string, now: number): Promise<PassRow[]> {
	const { rows } = await sql<PassRow>`
		select passes.* from passes
		where (passes.activating_until is not null or passes.ends_at > ${now})
			and passes.password_sealed is not null and passes.id in (
			select pass_id from sessions where id in (
				select session_id from purchases where token_hash = ${tokenHash}
				union
				select replaces_session_id from purchases where token_hash = ${tokenHash}
				union
				select added.session_id from purchases added
					join purchases first on first.id = added.extends_purchase_id
					where first.token_hash = ${tokenHash}))
		order by passes.id limit ${MAX_ROWS}`.execute(queries);
	return rows;
}
