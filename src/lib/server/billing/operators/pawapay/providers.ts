import { z } from 'zod';
import { guessPaymentMethod } from '#lib/domain/payment-methods/payment-method-guess.ts';
import { NAMED_METHODS } from '#lib/domain/payment-methods/payment-method-guess.ts';

/** A pawaPay provider, e.g. `MTN_MOMO_RWA`, for one of our payment methods. */
export interface Provider {
	method: string;
	code: string;
}

interface Market {
	/** Calling code. */
	prefix: string;
	currencies: readonly string[];
}

/** Keyed by the ISO 3166 alpha-3 code at the end of a provider's name (docs.pawapay.io/v2/docs/providers). */
const MARKETS: Readonly<Record<string, Market>> = {
	BEN: { prefix: '229', currencies: ['XOF'] },
	BFA: { prefix: '226', currencies: ['XOF'] },
	CIV: { prefix: '225', currencies: ['XOF'] },
	CMR: { prefix: '237', currencies: ['XAF'] },
	COD: { prefix: '243', currencies: ['CDF', 'USD'] },
	COG: { prefix: '242', currencies: ['XAF'] },
	ETH: { prefix: '251', currencies: ['ETB'] },
	GAB: { prefix: '241', currencies: ['XAF'] },
	GHA: { prefix: '233', currencies: ['GHS'] },
	KEN: { prefix: '254', currencies: ['KES'] },
	LSO: { prefix: '266', currencies: ['LSL'] },
	MOZ: { prefix: '258', currencies: ['MZN'] },
	MWI: { prefix: '265', currencies: ['MWK'] },
	NGA: { prefix: '234', currencies: ['NGN'] },
	RWA: { prefix: '250', currencies: ['RWF'] },
	SEN: { prefix: '221', currencies: ['XOF'] },
	SLE: { prefix: '232', currencies: ['SLE'] },
	TZA: { prefix: '255', currencies: ['TZS'] },
	UGA: { prefix: '256', currencies: ['UGX'] },
	ZMB: { prefix: '260', currencies: ['ZMW'] }
};

const marketOf = ({ code }: Provider): Market | undefined => MARKETS[code.slice(-3)];

const FORM = `Write it as "mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA"`;

export const providerList = z.string().transform((text, context): Provider[] => {
	const providers: Provider[] = [];
	const wrong = (problem: string) => {
		context.addIssue({ code: 'custom', message: `${problem} ${FORM}.` });
		return z.NEVER;
	};
	for (const pair of text.split(',').map((part) => part.trim())) {
		const [, method = '', code = ''] = /^([a-z_]+)\s*=\s*([A-Z0-9_]+_[A-Z]{3})$/.exec(pair) ?? [];
		if (code === '') return wrong(`"${pair}" is no method and provider.`);
		if (!NAMED_METHODS.some((name) => name === method)) {
			return wrong(`"${method}" is not a payment method (they are ${NAMED_METHODS.join(', ')}).`);
		}
		if (providers.some((known) => known.method === method)) return wrong(`"${method}" is there twice.`);
		providers.push({ method, code });
	}
	return providers;
});

/** Returns providers whose wallets do not hold the currency, with the currencies that they hold. */
export const inOtherCurrency = (providers: readonly Provider[], currency: string) =>
	providers.flatMap((provider) => {
		const currencies = marketOf(provider)?.currencies ?? [currency];
		return currencies.includes(currency) ? [] : [{ code: provider.code, currencies }];
	});

/** True if a number (E.164) is from the provider's country; an unknown market accepts any. */
export const isInMarket = (provider: Provider, phone: string): boolean =>
	phone.startsWith(`+${marketOf(provider)?.prefix ?? ''}`);

/** Guesses the provider by the number's first digits; otherwise takes the first one of its country. */
export function likelyProvider(providers: readonly Provider[], phone: string): Provider | undefined {
	const near = providers.filter((provider) => isInMarket(provider, phone));
	const guess = guessPaymentMethod(phone);
	return near.find(({ method }) => method === guess) ?? near[0] ?? providers[0];
}
