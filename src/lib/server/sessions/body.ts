import { toMajor } from '../../money.ts';
import { maskPhone } from '../../phone.ts';
import { isoTime } from '../clock.ts';
import type { OwnerUserBody, SessionBody } from '../contract/schemas.ts';
import type { OwnerRow, SessionRow } from './store.ts';

/** The API's session object. */
export function sessionBody(row: SessionRow, now: number, password: string | null): SessionBody {
	return {
		id: row.id,
		router_id: row.router_id,
		status: row.status,
		status_reason: row.status_reason,
		duration: row.duration,
		duration_seconds: row.duration_seconds,
		payment_method: row.payment_method,
		phone: row.phone,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		payment_id: row.payment_id,
		ssid: row.ssid,
		password,
		payment_due_at: isoTime(row.payment_due_at),
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		ended_at: isoTime(row.ended_at),
		remaining_seconds: remainingSeconds(row, now),
		extends_session_id: row.extends_session_id,
		pass_id: row.pass_id,
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

/** A session as the router's owner sees it, right at this moment even if no job has run yet. */
export function ownerUserBody(row: OwnerRow, now: number): OwnerUserBody {
	const over = row.status === 'active' && row.expires_at <= now;
	const status = over ? 'expired' : row.status;
	return {
		session_id: row.id,
		router_id: row.router_id,
		router_name: row.router_name,
		status,
		group: status === 'active' ? 'active' : 'expired',
		phone_masked: maskPhone(row.phone),
		duration: row.duration,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		ended_at: isoTime(over ? row.expires_at : row.ended_at),
		remaining_seconds: status === 'active' ? Math.max(0, Math.ceil((row.expires_at - now) / 1000)) : 0
	};
}

/** Seconds left of the bought time: null before it was paid, 0 when it is over; all of it before its turn comes. */
function remainingSeconds(row: SessionRow, now: number): number | null {
	if (row.expires_at === null) return null;
	if (row.status !== 'active') return 0;
	const left = Math.ceil((row.expires_at - Math.max(now, row.starts_at ?? now)) / 1000);
	return Math.max(0, left);
}
