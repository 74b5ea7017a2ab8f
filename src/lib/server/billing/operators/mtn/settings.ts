import { z } from 'zod';
import { CURRENCIES } from '#lib/domain/money.ts';
import type { Setting } from '#lib/server/config/setting.ts';
import {
	baseUrl,
	checkAddress,
	countryCode,
	credential,
	onOff,
	type Installation,
	type ValuesOf
} from '../definition.ts';

/** Source: momodeveloper.mtn.com. */
export const SETTINGS = {
	MTN_BASE_URL: {
		schema: baseUrl,
		description:
			'Address of the API: `https://sandbox.momodeveloper.mtn.com`, or that of your market, e.g. `https://proxy.momoapi.mtn.com`.'
	},
	MTN_TARGET_ENVIRONMENT: {
		schema: z.string().regex(/^(sandbox|mtn[a-z]+)$/, 'Use "sandbox" or a market such as "mtnuganda".'),
		description: '`sandbox`, or your market: `mtnuganda`, `mtnghana`, `mtnrwanda` … (X-Target-Environment).'
	},
	MTN_API_USER: {
		schema: z.uuid('Use the UUID of the API user.'),
		description: 'API user of Collections, a UUID.'
	},
	MTN_API_KEY: { schema: credential, description: "That API user's key." },
	MTN_SUBSCRIPTION_KEY: {
		schema: credential,
		description: 'Subscription key of the product Collections.'
	},
	MTN_CURRENCY: {
		schema: z.enum(CURRENCIES).optional(),
		description:
			'Currency on the wire. Default: `CURRENCY`; `EUR` in the sandbox, which takes no other and whose money is not real.'
	},
	MTN_COUNTRY: {
		schema: countryCode.optional(),
		description: "Country of the payers. Default: the market's; the sandbox takes every number."
	},
	MTN_CALLBACKS: {
		schema: onOff,
		default: 'on',
		description:
			'`on`: MTN calls back, in its sandbox to `http:` addresses only, in a market to `https:` only. `off`: MTN is only asked.'
	},
	MTN_DISBURSEMENT_SUBSCRIPTION_KEY: {
		schema: credential.optional(),
		description: 'Subscription key of the product Disbursements: refunds are possible when it is set.'
	},
	MTN_DISBURSEMENT_API_USER: {
		schema: z.uuid('Use the UUID of the API user.').optional(),
		description:
			'API user of Disbursements. Default: that of Collections, which works only if MTN made it for both products.'
	},
	MTN_DISBURSEMENT_API_KEY: {
		schema: credential.optional(),
		description: "That API user's key."
	},
	MTN_REFUND_VERSION: {
		schema: z.enum(['v1_0', 'v2_0'], 'Use "v1_0" or "v2_0".'),
		default: 'v1_0',
		description: 'Version of the refund call, `v1_0` or `v2_0`.'
	}
} as const satisfies Record<string, Setting>;

export type MtnValues = ValuesOf<typeof SETTINGS>;

export const SANDBOX = 'sandbox';

/** Markets that are not listed are not checked. */
const MARKETS: Readonly<Record<string, { country: string; currency: string | null }>> = {
	mtnuganda: { country: 'UG', currency: 'UGX' },
	mtnghana: { country: 'GH', currency: 'GHS' },
	mtnivorycoast: { country: 'CI', currency: 'XOF' },
	mtnzambia: { country: 'ZM', currency: 'ZMW' },
	mtncameroon: { country: 'CM', currency: 'XAF' },
	mtnbenin: { country: 'BJ', currency: 'XOF' },
	mtncongo: { country: 'CG', currency: 'XAF' },
	mtnswaziland: { country: 'SZ', currency: 'SZL' },
	mtnguineaconakry: { country: 'GN', currency: 'GNF' },
	mtnsouthafrica: { country: 'ZA', currency: 'ZAR' },
	// Two currencies are in use.
	mtnliberia: { country: 'LR', currency: null },
	mtnsouthsudan: { country: 'SS', currency: 'SSP' },
	mtnnigeria: { country: 'NG', currency: 'NGN' },
	mtnrwanda: { country: 'RW', currency: 'RWF' }
};

/** Currency code that MTN expects; amounts stay in the installation's currency. */
export const wireCurrency = (values: MtnValues, currency: string): string =>
	values.MTN_CURRENCY ?? (values.MTN_TARGET_ENVIRONMENT === SANDBOX ? 'EUR' : currency);

/** ISO 3166; null if payers may be from any country. */
export const payersCountry = (values: MtnValues): string | null =>
	values.MTN_COUNTRY ?? MARKETS[values.MTN_TARGET_ENVIRONMENT]?.country ?? null;

const HOSTS = { real: /(^|\.)momoapi\.mtn\.[a-z.]+$/i };

export function checkSettings(values: MtnValues, installation: Installation) {
	const { mode, currency, callbackUrl } = installation;
	const { MTN_DISBURSEMENT_API_USER: user, MTN_DISBURSEMENT_API_KEY: key } = values;
	const target = values.MTN_TARGET_ENVIRONMENT;
	const isSandbox = target === SANDBOX;
	const wire = wireCurrency(values, currency);
	const taken = MARKETS[target]?.currency ?? wire;
	const callback = new URL(callbackUrl);
	const isReachable = callback.protocol === 'https:' && !/^[\d.]+$|^\[/.test(callback.hostname);
	return [
		isSandbox && mode === 'live' && 'MTN_TARGET_ENVIRONMENT: the sandbox is refused in live mode.',
		isSandbox && wire !== 'EUR' && 'MTN_CURRENCY: the sandbox of MTN MoMo takes EUR only.',
		!isSandbox &&
			wire !== currency &&
			`MTN_CURRENCY: must be the installation's currency (${currency}), except in the sandbox.`,
		!isSandbox &&
			wire === currency &&
			taken !== wire &&
			`MTN_TARGET_ENVIRONMENT: ${target} takes ${taken}, and CURRENCY is ${currency}.`,
		...checkAddress('MTN_BASE_URL', values.MTN_BASE_URL, installation, HOSTS),
		mode === 'live' &&
			values.MTN_CALLBACKS === 'on' &&
			!isReachable &&
			'MTN_CALLBACKS: MTN calls https addresses with a host name only: set CALLBACK_URL to one, or this to "off".',
		(user === undefined) !== (key === undefined) &&
			'MTN_DISBURSEMENT_API_USER and MTN_DISBURSEMENT_API_KEY: set both or neither.',
		user !== undefined &&
			values.MTN_DISBURSEMENT_SUBSCRIPTION_KEY === undefined &&
			'MTN_DISBURSEMENT_SUBSCRIPTION_KEY: is required with MTN_DISBURSEMENT_API_USER.'
	];
}
