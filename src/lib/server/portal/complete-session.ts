import type { SessionBody } from '../api/contract/schemas.ts';
import { wifiQrText } from '#lib/domain/wifi/wifi-qr.ts';

/**
 * Adds `access`, which a service with only the fields of the wire format does not send. It sells a password of the
 * Wi-Fi itself.
 */
export function completeSession(session: SessionBody | Omit<SessionBody, 'access'>): SessionBody {
	if ('access' in session) return session;
	const { ssid, password } = session;
	return {
		...session,
		access: {
			kind: 'wpa_personal_per_client',
			username: null,
			network_password: null,
			qr: password === null ? null : wifiQrText({ ssid, security: 'wpa', password }),
			qr_joins: password === null ? null : 'access',
			end_enforced: true,
			max_devices: 1
		}
	};
}
