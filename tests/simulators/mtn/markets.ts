/** The sandbox and the markets of MTN MoMo, as X-Target-Environment names them. */
export interface Market {
	environment: string;
	currency: string;
	/** ISO 3166; null in the sandbox, which takes every number. */
	country: string | null;
	callingCode: string | null;
	/** Decimals of the currency. */
	decimals: number;
}

export const SANDBOX: Market = {
	environment: 'sandbox',
	currency: 'EUR',
	country: null,
	callingCode: null,
	decimals: 2
};

/** environment: currency, country, calling code, decimals */
const MARKETS: Readonly<Record<string, readonly [string, string, string, number]>> = {
	mtnuganda: ['UGX', 'UG', '256', 0],
	mtnghana: ['GHS', 'GH', '233', 2],
	mtnivorycoast: ['XOF', 'CI', '225', 0],
	mtnzambia: ['ZMW', 'ZM', '260', 2],
	mtncameroon: ['XAF', 'CM', '237', 0],
	mtnbenin: ['XOF', 'BJ', '229', 0],
	mtncongo: ['XAF', 'CG', '242', 0],
	mtnswaziland: ['SZL', 'SZ', '268', 2],
	mtnguineaconakry: ['GNF', 'GN', '224', 0],
	mtnsouthafrica: ['ZAR', 'ZA', '27', 2],
	mtnliberia: ['LRD', 'LR', '231', 2],
	mtnsouthsudan: ['SSP', 'SS', '211', 2],
	mtnnigeria: ['NGN', 'NG', '234', 2],
	mtnrwanda: ['RWF', 'RW', '250', 0]
};

/** @throws Error when there is no such market */
export function marketNamed(environment: string): Market {
	if (environment === SANDBOX.environment) return SANDBOX;
	const found = Object.hasOwn(MARKETS, environment) ? MARKETS[environment] : undefined;
	if (!found)
		throw new Error(`The markets are ${[SANDBOX.environment, ...Object.keys(MARKETS)].join(', ')}.`);
	const [currency, country, callingCode, decimals] = found;
	return { environment, currency, country, callingCode, decimals };
}
