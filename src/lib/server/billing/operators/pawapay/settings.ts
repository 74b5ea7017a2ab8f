import type { Setting } from '#lib/server/config/setting.ts';
import { baseUrl, credential, onOff, type Installation, type ValuesOf } from '../definition.ts';
import { inOtherCurrency, providerList } from './providers.ts';
import { privateKey } from './signatures.ts';

export const SETTINGS = {
	PAWAPAY_BASE_URL: {
		schema: baseUrl,
		description:
			'Address of the Merchant API, without `/v2`: `https://api.sandbox.pawapay.io` or `https://api.pawapay.io`.'
	},
	PAWAPAY_API_TOKEN: {
		schema: credential,
		description: 'API token from the dashboard (System configuration, API tokens).'
	},
	PAWAPAY_PROVIDERS: {
		schema: providerList,
		description:
			'The provider for each payment method, e.g. `mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA`. Method `mobile_money` takes the one that pawaPay predicts for the number.'
	},
	PAWAPAY_VERIFY_CALLBACKS: {
		schema: onOff,
		default: 'off',
		description:
			'`on`: callbacks count only when signed (RFC 9421). Turn on signed callbacks in the dashboard first.'
	},
	PAWAPAY_SIGNING_KEY: {
		schema: privateKey.optional(),
		description:
			'ECDSA P-256 private key (PEM, line breaks as `\\n`) that signs requests which move money. With PAWAPAY_SIGNING_KEY_ID.'
	},
	PAWAPAY_SIGNING_KEY_ID: {
		schema: credential.optional(),
		description: 'Name under which its public key is in the dashboard.'
	}
} as const satisfies Record<string, Setting>;

export type PawapayValues = ValuesOf<typeof SETTINGS>;

const SANDBOX_HOST = /(^|\.)sandbox\.pawapay\./;
const LIVE_HOST = /^api\.pawapay\./;

export function checkSettings(
	values: PawapayValues,
	{ mode, currency, callbackUrl }: Installation
): string[] {
	const problems = inOtherCurrency(values.PAWAPAY_PROVIDERS, currency).map(
		({ code, currencies }) =>
			`PAWAPAY_PROVIDERS: ${code} takes ${currencies.join(' and ')}, but prices are in ${currency} (CURRENCY).`
	);
	const { hostname, protocol } = new URL(values.PAWAPAY_BASE_URL);
	if (mode === 'live' && SANDBOX_HOST.test(hostname)) {
		problems.push('PAWAPAY_BASE_URL: live mode cannot use the sandbox of pawaPay.');
	}
	if (mode === 'live' && protocol !== 'https:') {
		problems.push('PAWAPAY_BASE_URL: live mode needs an https address.');
	}
	if (mode === 'sandbox' && LIVE_HOST.test(hostname)) {
		problems.push('PAWAPAY_BASE_URL: sandbox mode would move real money there.');
	}
	if (mode === 'live' && !callbackUrl.startsWith('https://')) {
		problems.push('PAWAPAY_BASE_URL: pawaPay calls https addresses only; set CALLBACK_URL to one.');
	}
	if ((values.PAWAPAY_SIGNING_KEY === undefined) !== (values.PAWAPAY_SIGNING_KEY_ID === undefined)) {
		const missing = values.PAWAPAY_SIGNING_KEY === undefined ? 'KEY' : 'KEY_ID';
		problems.push(
			`PAWAPAY_SIGNING_${missing}: is required when PAWAPAY_SIGNING_${missing === 'KEY' ? 'KEY_ID' : 'KEY'} is set.`
		);
	}
	return problems;
}
