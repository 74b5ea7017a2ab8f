/** Settings of pawaPay's dashboard, and the matching settings of Airtill. */
export const PORTAL = {
	api_token: 'simulated-pawapay-token-1',
	callback_url: '',
	refund_callback_url: '',
	signed_callbacks: 'off',
	signed_requests: 'off',
	merchant_key_id: '',
	merchant_key: '',
	deposits: 'on',
	refunds: 'on',
	/** Providers that are down, with commas. */
	closed: '',
	/** Country of the providers in the printed settings. */
	country: 'UGA',
	/** `list`: the other form of active-conf. */
	operation_types: 'object'
};

/** Payment methods of Airtill for the printed settings, by country. */
export const SETTINGS: Readonly<Record<string, { region: string; currency: string; providers: string }>> = {
	BEN: { region: 'BJ', currency: 'XOF', providers: 'mtn_momo=MTN_MOMO_BEN' },
	CIV: { region: 'CI', currency: 'XOF', providers: 'mtn_momo=MTN_MOMO_CIV,orange_money=ORANGE_CIV' },
	CMR: { region: 'CM', currency: 'XAF', providers: 'mtn_momo=MTN_MOMO_CMR,orange_money=ORANGE_CMR' },
	COD: {
		region: 'CD',
		currency: 'CDF',
		providers: 'mpesa=VODACOM_MPESA_COD,airtel_money=AIRTEL_COD,orange_money=ORANGE_COD'
	},
	GHA: { region: 'GH', currency: 'GHS', providers: 'mtn_momo=MTN_MOMO_GHA,airtel_money=AIRTELTIGO_GHA' },
	KEN: { region: 'KE', currency: 'KES', providers: 'mpesa=MPESA_KEN' },
	MWI: { region: 'MW', currency: 'MWK', providers: 'airtel_money=AIRTEL_MWI' },
	RWA: { region: 'RW', currency: 'RWF', providers: 'mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA' },
	TZA: { region: 'TZ', currency: 'TZS', providers: 'mpesa=VODACOM_TZA,airtel_money=AIRTEL_TZA' },
	UGA: { region: 'UG', currency: 'UGX', providers: 'mtn_momo=MTN_MOMO_UGA,airtel_money=AIRTEL_OAPI_UGA' },
	ZMB: { region: 'ZM', currency: 'ZMW', providers: 'mtn_momo=MTN_MOMO_ZMB,airtel_money=AIRTEL_OAPI_ZMB' }
};

export type Portal = typeof PORTAL;

export const isClosed = (portal: Portal, provider: string): boolean =>
	portal.closed.split(',').includes(provider);
