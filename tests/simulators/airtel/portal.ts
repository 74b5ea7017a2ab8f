/** The merchant's side of Airtel's portal, and what differs from market to market. */
export interface AirtelPortal {
	/** Empty: no callbacks. */
	callback_url: string;
	/** The part of a callback that is hashed; `off` if callback authentication is disabled. */
	callback_authentication: 'off' | 'transaction-bytes' | 'transaction-json' | 'body';
	/** `on`: requests with a body need `x-signature` and `x-key`. */
	message_signing: 'on' | 'off';
	country: string;
	currency: string;
	/** `on`: numbers must come with the leading 0. */
	leading_zero: 'on' | 'off';
	/** `on`: `transaction.id` may only have 25 letters and digits. */
	short_ids: 'on' | 'off';
	token_seconds: string;
	/** `text` as documented, or `number`. */
	expires_in: 'text' | 'number';
}

export const ORDINARY_PORTAL: AirtelPortal = {
	callback_url: '',
	callback_authentication: 'transaction-json',
	message_signing: 'off',
	country: 'UG',
	currency: 'UGX',
	leading_zero: 'off',
	short_ids: 'off',
	token_seconds: '180',
	expires_in: 'text'
};

/** Markets: currency, calling code, digits of a number without country code and without 0. */
export const MARKETS: Readonly<
	Record<string, { currencies: readonly string[]; code: string; digits: number }>
> = {
	UG: { currencies: ['UGX'], code: '256', digits: 9 },
	KE: { currencies: ['KES'], code: '254', digits: 9 },
	TZ: { currencies: ['TZS'], code: '255', digits: 9 },
	RW: { currencies: ['RWF'], code: '250', digits: 9 },
	ZM: { currencies: ['ZMW'], code: '260', digits: 9 },
	MW: { currencies: ['MWK'], code: '265', digits: 9 },
	NG: { currencies: ['NGN'], code: '234', digits: 10 },
	CD: { currencies: ['CDF', 'USD'], code: '243', digits: 9 },
	CG: { currencies: ['XAF'], code: '242', digits: 9 },
	GA: { currencies: ['XAF'], code: '241', digits: 8 },
	TD: { currencies: ['XAF'], code: '235', digits: 8 },
	NE: { currencies: ['XOF'], code: '227', digits: 8 },
	MG: { currencies: ['MGA'], code: '261', digits: 9 },
	SC: { currencies: ['SCR'], code: '248', digits: 7 }
};
export const isCurrency = (text: string) =>
	Object.values(MARKETS).some(({ currencies }) => currencies.includes(text));
