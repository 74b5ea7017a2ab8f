import { z } from 'zod';
import { jsonObject, textMember } from '../http.ts';
import { baseUrl, credential, defineOperator, type OperatorDependencies } from '../definition.ts';
import type { CallbackHint, OperatorAdapter, PaymentRequest, RawCallback } from '../operator.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { usualDecimals, wireAmount } from './amounts.ts';
import { settledOf, statusOutcome, submitOutcome } from './answers.ts';
import { createCache } from './cache.ts';
import { createCalls, type Calls } from './calls.ts';
import { briefly, createChoice } from './choice.ts';
import {
	CONFIGURATION_PATH,
	readConfiguration,
	type ActiveConfiguration,
	type ProviderRules
} from './configuration.ts';
import { healthProblems } from './health.ts';
import { createCallbackKeys } from './keys.ts';
import { inOtherCurrency, isInMarket, providerList, type Provider } from './providers.ts';
import { isSigned, privateKey } from './signatures.ts';

/**
 * pawaPay, Merchant API version 2 (docs.pawapay.io/v2; reference section 5): one account for many networks. Each payment
 * method is one of its providers. Our reference is the depositId, so a status read resolves a lost answer, and the same
 * request may be sent again. The callback address is set in its dashboard.
 */
const SANDBOX_HOST = /(^|\.)sandbox\.pawapay\./;
const LIVE_HOST = /^api\.pawapay\./;

export const pawapay = defineOperator({
	id: 'pawapay',
	name: 'pawaPay',
	settings: {
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
			schema: z.enum(['on', 'off'], { error: 'Use "on" or "off".' }),
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
	},
	methods: ({ PAWAPAY_PROVIDERS }) => PAWAPAY_PROVIDERS.map(({ method }) => method),
	check(values, { mode, currency, callbackUrl }) {
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
	},
	create(values, dependencies) {
		const { http, clock } = dependencies;
		const { PAWAPAY_SIGNING_KEY: key, PAWAPAY_SIGNING_KEY_ID: id } = values;
		const calls = createCalls({
			http,
			clock,
			baseUrl: values.PAWAPAY_BASE_URL,
			token: values.PAWAPAY_API_TOKEN,
			signingKey: key && id !== undefined ? { key, id } : null
		});
		const options = {
			providers: values.PAWAPAY_PROVIDERS,
			verifyCallbacks: values.PAWAPAY_VERIFY_CALLBACKS === 'on',
			signs: key !== undefined
		};
		return createAdapter(calls, options, dependencies);
	},
	statement: {
		reference: ['depositId', 'Deposit ID', 'Transaction ID', 'Payment ID', 'ID'],
		providerReference: [
			'providerTransactionId',
			'Provider transaction ID',
			'Provider ID',
			'Correspondent ID'
		],
		amount: ['amount', 'Amount', 'depositedAmount', 'Deposited amount'],
		status: { names: ['status', 'Status'], settled: ['COMPLETED', 'Completed'] }
	}
});

/** The configuration changes if an account manager changes it, or a network is down. */
const CONFIGURATION_TIMES = { freshMs: 10 * 60 * 1000, pauseMs: 30 * 1000 };

interface Options {
	providers: readonly Provider[];
	verifyCallbacks: boolean;
	signs: boolean;
}

function createAdapter(
	calls: Calls,
	options: Options,
	{ clock, currency, callbackUrl }: OperatorDependencies
): OperatorAdapter {
	const { providers, verifyCallbacks } = options;
	const choose = createChoice(providers, calls, clock);
	const callbackKeys = createCallbackKeys(calls, clock);
	const configuration = createCache<ActiveConfiguration>(
		clock,
		async () => readConfiguration(await calls.get(CONFIGURATION_PATH)),
		CONFIGURATION_TIMES
	);

	async function submit(request: PaymentRequest): ReturnType<OperatorAdapter['submit']> {
		const [provider, known] = await Promise.all([
			choose(request.paymentMethod, request.payerPhone),
			briefly(configuration.get(), configuration.held())
		]);
		const code = provider?.code ?? '';
		const rules = known?.rulesOf(code, request.currency);
		const decimals = rules?.decimals ?? usualDecimals(request.currency);
		const amount = wireAmount(request.amountMinor, request.currency, decimals);
		if (amount === null) {
			const message = `${code} takes whole amounts only.`;
			return { kind: 'refused', reason: 'merchant_error', message, retryable: false, raw: message };
		}
		const outcome = await calls.postFinancial('/v2/deposits', {
			depositId: request.reference,
			amount,
			currency: request.currency,
			payer: {
				type: 'MMO',
				accountDetails: { phoneNumber: request.payerPhone.slice(1), provider: code }
			},
			customerMessage: customerMessage(request.description)
		});
		// A network stays down for a while: the buyer is told at once and may choose another one.
		return submitOutcome(outcome, 'depositId', request.reference, () => false);
	}

	function validate({ amountMinor, currency: asked }: Pick<PaymentRequest, 'amountMinor' | 'currency'>) {
		if (asked !== currency) return [`pawaPay is set up for ${currency}, not ${asked}.`];
		// The provider is chosen later; an amount that none of them accepts is refused here.
		const known = configuration.held();
		const each = providers.map(({ code }) => amountProblems(amountMinor, asked, known?.rulesOf(code, asked)));
		return each.some((problems) => problems.length === 0) ? [] : (each[0] ?? []);
	}

	async function parseCallback(raw: RawCallback): Promise<CallbackHint> {
		const body = jsonObject(raw.body);
		const status = textMember(body, 'status');
		const authentic = !verifyCallbacks ? 'absent' : (await isAuthentic(raw)) ? 'verified' : 'invalid';
		return {
			claimed: status === null ? 'unknown' : (CLAIMS[status] ?? 'unknown'),
			authentic,
			// A refund's callback is about the refund, even if it names the deposit.
			reference: textMember(body, 'refundId') ?? textMember(body, 'depositId'),
			operatorReference: null,
			...settledOf(body)
		};
	}

	function isAuthentic({ method, headers, body, authority, path }: RawCallback): Promise<boolean> {
		const published = new URL(callbackUrl);
		const targets = [
			{ authority, path },
			{ authority: published.host, path: published.pathname.replace(/\/$/, '') + path }
		];
		return isSigned({ method, headers, body, targets, now: clock.now() }, callbackKeys);
	}

	return {
		id: 'pawapay',
		capabilities: {
			clientReference: 'uuid',
			statusByOurReference: true,
			statusReturnsAmount: true,
			callback: { methods: ['POST'], authenticity: 'signature', perRequestUrl: false, answer: null },
			refund: 'partial',
			payerCheck: false,
			approvalWindowSeconds: 300,
			minStatusDelaySeconds: 0,
			resubmitSameReferenceSafe: true
		},
		takesNumber: (phone) => providers.some((provider) => isInMarket(provider, phone)),
		validate,
		submit,
		readStatus: async ({ reference }) =>
			statusOutcome(await calls.get(`/v2/deposits/${reference}`), 'depositId', reference),
		parseCallback,
		async refund({ reference, payment, amountMinor, currency: taken }) {
			const outcome = await calls.postFinancial('/v2/refunds', {
				refundId: reference,
				depositId: payment.reference,
				// The provider took this amount, so its decimals are valid.
				amount: wireAmount(amountMinor, taken, 2),
				currency: taken
			});
			return submitOutcome(outcome, 'refundId', reference, (code) => PASSES_FOR_REFUNDS.has(code ?? ''));
		},
		readRefund: async ({ reference }) =>
			statusOutcome(await calls.get(`/v2/refunds/${reference}`), 'refundId', reference),
		async health() {
			const problems = healthProblems(await calls.get(CONFIGURATION_PATH), {
				...options,
				currency,
				callbackUrl
			});
			return { ok: problems.length === 0, reason: problems.join('; ') || null };
		}
	};
}

const CLAIMS: Readonly<Record<string, CallbackHint['claimed']>> = {
	COMPLETED: 'succeeded',
	FAILED: 'failed',
	ACCEPTED: 'pending',
	SUBMITTED: 'pending',
	PROCESSING: 'pending',
	ENQUEUED: 'pending',
	IN_RECONCILIATION: 'pending'
};

/** Temporary refusals of refunds: they end when the network is up or the wallet is refilled. */
const PASSES_FOR_REFUNDS = new Set([
	'PROVIDER_TEMPORARILY_UNAVAILABLE',
	'REFUND_IN_PROGRESS',
	'PAWAPAY_WALLET_OUT_OF_FUNDS'
]);

function amountProblems(
	amountMinor: number,
	currency: string,
	rules: ProviderRules | null | undefined
): string[] {
	const problems: string[] = [];
	const amount = wireAmount(amountMinor, currency, rules?.decimals ?? usualDecimals(currency));
	if (amount === null) problems.push(`The network takes whole amounts of ${currency} only.`);
	const major = Number(wireAmount(amountMinor, currency, 2));
	if (typeof rules?.min === 'number' && major < rules.min) {
		problems.push(`The network takes ${formatMoney(rules.min, currency, 'en')} or more.`);
	}
	if (typeof rules?.max === 'number' && major > rules.max) {
		problems.push(`The network takes ${formatMoney(rules.max, currency, 'en')} at most.`);
	}
	return problems;
}

const MESSAGE = { min: 4, max: 22 };

/** The text for the payer: 4 to 22 letters, digits and spaces (reference section 5). */
export function customerMessage(description: string): string {
	const plain = description
		.normalize('NFKD')
		.replace(/[-'\u2019]|\p{M}/gu, '')
		.replace(/[^A-Za-z0-9]+/g, ' ')
		.trim()
		.slice(0, MESSAGE.max)
		.trim();
	return plain.length < MESSAGE.min ? `WiFi ${plain}`.trim() : plain;
}
