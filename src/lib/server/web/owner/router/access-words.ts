import { hasNetworkPassword, type AccessKind } from '#lib/domain/access-kind.ts';
import type { WifiSecurity } from '#lib/domain/wifi/wifi-qr.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';

interface Shown {
	access_kind: AccessKind;
	security: WifiSecurity;
	ssid: string;
	networkPasswordKnown: boolean;
}

export function accessWords(router: Shown) {
	const { access_kind: kind, security } = router;
	return {
		...kindWords(kind, security, apart(router.ssid)),
		/** True if Airtill cannot enforce the end. The text is highlighted. */
		open: kind === 'shared_password',
		/** null if the access kind has no shared Wi-Fi password. */
		network: hasNetworkPassword(kind, security) ? networkText(router) : null
	};
}

export function kindWords(kind: AccessKind, security: Shown['security'], ssid: string) {
	switch (kind) {
		case 'wpa_personal_per_client':
			return { title: m.owner_access_own_title(), text: m.owner_access_own_text({ ssid }) };
		case 'wpa_enterprise':
			return { title: m.owner_access_user_title(), text: m.owner_access_user_text({ ssid }) };
		case 'portal_login':
			if (security === 'nopass') {
				return { title: m.owner_access_open_title(), text: m.owner_access_open_text({ ssid }) };
			}
			return { title: m.owner_access_login_title(), text: m.owner_access_login_text({ ssid }) };
		case 'shared_password':
			return { title: m.owner_access_shared_title(), text: m.owner_access_shared_text({ ssid }) };
	}
}

function networkText({ access_kind: kind, networkPasswordKnown }: Shown): string {
	if (networkPasswordKnown) return m.owner_wifi_known();
	return kind === 'shared_password' ? m.owner_wifi_missing() : m.owner_wifi_ask();
}
