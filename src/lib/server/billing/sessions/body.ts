import { dataMb } from '#lib/domain/data-limit.ts';
import { asksUserName, endsByItself } from '#lib/domain/access-kind.ts';
import { loginUser } from '#lib/domain/wifi/pass-username.ts';
import { limitsOf } from '#lib/domain/offers/offer-limits.ts';
import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { wifiQrText, type WifiSecurity } from '#lib/domain/wifi/wifi-qr.ts';
import type { PassRow } from '../../passes/passes.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { OwnerUserBody, SessionBody } from '#lib/server/contract/schemas.ts';
import type { OwnerRow, SessionRow } from './store.ts';

/** Secrets for the buyer only. */
interface Revealed {
	password: string;
	security: WifiSecurity;
	/** The network does not announce its name. */
	hidden: boolean;
	/** null if the network has none or it is unknown. */
	networkPassword: string | null;
}

/** @param pass the pass that has the session's time */
export function sessionBody(
	row: SessionRow,
	pass: PassRow | null,
	now: number,
	revealed: Revealed | null
): SessionBody {
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
		offer: agreedOffer(row),
		payment_id: row.payment_id,
		ssid: row.ssid,
		password: revealed?.password ?? null,
		access: accessBody(row, revealed),
		payment_due_at: isoTime(row.payment_due_at),
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		ended_at: isoTime(row.ended_at),
		remaining_seconds: remainingSeconds(row, now),
		...dataBody(row, pass),
		extends_session_id: row.extends_session_id,
		pass_id: row.pass_id ?? row.id,
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

function agreedOffer(row: SessionRow): SessionBody['offer'] {
	if (row.offer_id === null || row.offer_name === null) return null;
	return { id: row.offer_id, name: row.offer_name, ...limitsOf(row), max_devices: row.max_devices };
}

function accessBody(row: SessionRow, revealed: Revealed | null): SessionBody['access'] {
	const kind = row.access_kind;
	const qr = revealed && qrText(row, revealed);
	const isLogin = kind === 'portal_login';
	return {
		kind,
		username: revealed && asksUserName(kind) ? loginUser(row.pass_id ?? row.id) : null,
		network_password: revealed && isLogin ? revealed.networkPassword : null,
		qr,
		qr_joins: qr === null ? null : isLogin ? 'network' : 'access',
		end_enforced: endsByItself(kind),
		max_devices: row.max_devices
	};
}

/** Returns null for enterprise networks, which phone cameras cannot set up. */
function qrText({ access_kind, ssid }: SessionRow, revealed: Revealed): string | null {
	const { security, hidden, password, networkPassword } = revealed;
	if (access_kind === 'wpa_enterprise') return null;
	const joining = access_kind === 'portal_login' ? networkPassword : password;
	if (security === 'wpa' && joining === null) return null;
	return wifiQrText({ ssid, security, hidden, password: joining });
}

/** Shows a session whose time is over as expired, even before its job has run. */
export const asOfNow = <Row extends Pick<SessionRow, 'status' | 'expires_at' | 'ended_at'>>(
	row: Row,
	now: number
): Row =>
	row.status === 'active' && row.expires_at !== null && row.expires_at <= now
		? { ...row, status: 'expired', ended_at: row.expires_at }
		: row;

export function ownerUserBody(stored: OwnerRow, now: number): OwnerUserBody {
	const row = asOfNow(stored, now);
	const { status } = row;
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
		ended_at: isoTime(row.ended_at),
		remaining_seconds: status === 'active' ? Math.max(0, Math.ceil((row.expires_at - now) / 1000)) : 0
	};
}

function dataBody({ starts_at }: SessionRow, pass: PassRow | null) {
	const data = starts_at === null || pass === null ? null : dataMb(pass);
	return { data_used_mb: data?.usedMb ?? null, data_left_mb: data?.leftMb ?? null };
}

/** Counts the session's own time: null before payment, all of it before its start, 0 after. */
function remainingSeconds(row: SessionRow, now: number): number | null {
	if (row.expires_at === null) return null;
	if (row.status !== 'active') return 0;
	const left = Math.ceil((row.expires_at - Math.max(now, row.starts_at ?? now)) / 1000);
	return Math.max(0, left);
}
