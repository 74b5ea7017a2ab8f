import type { Setting } from '#lib/server/config/setting.ts';
import { baseUrl, checkAddress, credential, onOff, type Installation, type ValuesOf } from '../definition.ts';
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

const HOSTS = { real: /^api\.pawapay\./, test: /(^|\.)sandbox\.pawapay\./ };

export function checkSettings(values: PawapayValues, installation: Installation) {
	const { currency } = installation;
	const { PAWAPAY_SIGNING_KEY: key, PAWAPAY_SIGNING_KEY_ID: id } = values;
	return [
		...inOtherCurrency(values.PAWAPAY_PROVIDERS, currency).map(
			({ code, currencies }) =>
				`PAWAPAY_PROVIDERS: ${code} takes ${currencies.join(' and ')}, but prices are in ${currency} (CURRENCY).`
		),
		...checkAddress('PAWAPAY_BASE_URL', values.PAWAPAY_BASE_URL, installation, HOSTS),
		key === undefined &&
			id !== undefined &&
			'PAWAPAY_SIGNING_KEY: is required when PAWAPAY_SIGNING_KEY_ID is set.',
		id === undefined &&
			key !== undefined &&
			'PAWAPAY_SIGNING_KEY_ID: is required when PAWAPAY_SIGNING_KEY is set.'
	];
}
