import { setTimeout as sleep } from 'node:timers/promises';
import { loosest, ruleInMajor, strictest, type AmountRule } from '#lib/domain/payment-methods/chargeable.ts';
import { ANY_PAYMENT_METHOD } from '#lib/domain/payment-methods/payment-method-guess.ts';
import { defineOperator, type OperatorDependencies } from '../definition.ts';
import { jsonObject, textMember } from '../response.ts';
import type { OperatorAdapter, PaymentRequest, RefundRequest, SubmitOutcome } from '../operator.ts';
import { refused } from '../outcomes.ts';
import { plainText } from '../plain-text.ts';
import { usualDecimals, wireAmount } from './amounts.ts';
import { statusOutcome, submitOutcome } from './outcomes.ts';
import { createCache, type Cache } from './cache.ts';
import { createCallbackKeys, parseCallback, type CallbackContext } from './callback.ts';
import { createPawapayClient, type PawapayClient } from './client.ts';
import {
	CONFIGURATION_PATH,
	healthProblems,
	readConfiguration,
	type ActiveConfiguration
} from './configuration.ts';
import { isInMarket, likelyProvider, type Provider } from './providers.ts';
import { checkSettings, SETTINGS, type PawapayValues } from './settings.ts';

/**
 * pawaPay, Merchant API version 2 (docs.pawapay.io/v2). Each payment method is a
 * provider. Our reference is the depositId: a status read resolves a lost answer, and a request may be
 * repeated.
 */
export const pawapay = defineOperator({
	id: 'pawapay',
	name: 'pawaPay',
	settings: SETTINGS,
	methods: ({ PAWAPAY_PROVIDERS }) => PAWAPAY_PROVIDERS.map(({ method }) => method),
	needsHttps: true,
	check: checkSettings,
	create: createPawapay,
	statement: {
		reference: ['Deposit ID', 'Transaction ID', 'Payment ID', 'ID'],
		providerReference: ['Provider transaction ID', 'Provider ID', 'Correspondent ID'],
		amount: ['Amount', 'Deposited amount'],
		status: { names: ['Status'], settled: ['Completed'] }
	}
});

/** The configuration changes when an account manager edits it or a network goes down. */
const CONFIGURATION_TIMES = { freshMs: 10 * 60 * 1000, pauseMs: 30 * 1000 };
/** Limit for optional requests while a buyer waits for the prompt. */
const OPTIONAL_MS = 3_000;

interface PawapayContext extends OperatorDependencies, CallbackContext {
	client: PawapayClient;
	configuration: Cache<ActiveConfiguration>;
}

function createPawapay(values: PawapayValues, dependencies: OperatorDependencies): OperatorAdapter {
	const { clock } = dependencies;
	const client = createPawapayClient(values, dependencies);
	const context: PawapayContext = {
		...dependencies,
		values,
		client,
		configuration: createCache(
			clock,
			async () => readConfiguration(await client.get(CONFIGURATION_PATH)),
			CONFIGURATION_TIMES
		),
		callbackKeys: createCallbackKeys(client, clock)
	};
	return {
		id: 'pawapay',
		currency: dependencies.currency,
		capabilities: { usesPortalCallback: true, minStatusDelaySeconds: 0, resubmitSameReferenceSafe: true },
		takesNumber: (phone) => values.PAWAPAY_PROVIDERS.some((provider) => isInMarket(provider, phone)),
		amounts: (method) => amounts(context, method),
		submit: (request) => submit(context, request),
		readStatus: async ({ reference }) =>
			statusOutcome(await client.get(`/v2/deposits/${reference}`), 'depositId', reference),
		parseCallback: (raw) => parseCallback(context, raw),
		refund: (request) => refund(context, request),
		readRefund: async ({ reference }) =>
			statusOutcome(await client.get(`/v2/refunds/${reference}`), 'refundId', reference),
		async health() {
			const problems = healthProblems(await client.get(CONFIGURATION_PATH), values, dependencies);
			return problems.join('; ') || null;
		}
	};
}

/** Fetches the configuration for the next call, if it is not fresh. */
function amounts({ values, currency, configuration }: PawapayContext, method: string): AmountRule {
	void configuration.get();
	const providers = values.PAWAPAY_PROVIDERS.filter(
		(provider) => provider.method === method || method === ANY_PAYMENT_METHOD
	);
	const known = configuration.held();
	const rules = providers.map(({ code }) => {
		const own = known?.rulesOf(code, currency);
		const decimals = own?.decimals ?? usualDecimals(currency);
		return ruleInMajor(currency, { decimals, min: own?.min, max: own?.max });
	});
	// The number decides which of them pays, so refuse only what none takes.
	return method === ANY_PAYMENT_METHOD ? loosest(rules) : strictest(rules);
}

async function submit(context: PawapayContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { client, configuration } = context;
	const { reference, currency, payerPhone } = request;
	const [provider, known] = await Promise.all([
		choose(context, request),
		briefly(configuration.get(), configuration.held())
	]);
	const code = provider?.code ?? '';
	const decimals = known?.rulesOf(code, currency)?.decimals ?? usualDecimals(currency);
	const amount = wireAmount(request.amountMinor, currency, decimals);
	if (amount === null) return refused('merchant_error', `${code} takes whole amounts only.`);
	const outcome = await client.post(
		'/v2/deposits',
		{
			depositId: reference,
			amount,
			currency,
			payer: { type: 'MMO', accountDetails: { phoneNumber: payerPhone.slice(1), provider: code } },
			customerMessage: customerMessage(request.description)
		},
		true
	);
	// A network stays down for a while: the buyer sees it now and can choose another one.
	return submitOutcome(outcome, 'depositId', reference, []);
}

/** Finds the provider: the buyer's choice, pawaPay's prediction (wrong for one number in 800), or a guess. */
async function choose(
	{ client, values: { PAWAPAY_PROVIDERS: providers } }: PawapayContext,
	{ paymentMethod, payerPhone }: PaymentRequest
): Promise<Provider | undefined> {
	const chosen = providers.find(({ method }) => method === paymentMethod);
	if (chosen) return chosen;
	const outcome = await briefly(
		client.post('/v2/predict-provider', { phoneNumber: payerPhone.slice(1) }),
		null
	);
	const isAnswer = outcome?.kind === 'response' && outcome.status === 200;
	const prediction = isAnswer ? textMember(jsonObject(outcome.text), 'provider') : null;
	return providers.find(({ code }) => code === prediction) ?? likelyProvider(providers, payerPhone);
}

async function briefly<T>(work: Promise<T>, otherwise: T): Promise<T> {
	const limit = new AbortController();
	const late = sleep(OPTIONAL_MS, otherwise, { signal: limit.signal }).catch(() => otherwise);
	return Promise.race([work, late]).finally(() => limit.abort());
}

/** They end when the network is up or the wallet is refilled. */
const PASSING_FOR_REFUNDS = [
	'PROVIDER_TEMPORARILY_UNAVAILABLE',
	'REFUND_IN_PROGRESS',
	'PAWAPAY_WALLET_OUT_OF_FUNDS'
];

async function refund(
	{ client }: PawapayContext,
	{ reference, payment, amountMinor, currency }: RefundRequest
): Promise<SubmitOutcome> {
	const outcome = await client.post(
		'/v2/refunds',
		{
			refundId: reference,
			depositId: payment.reference,
			// The provider took this amount, so its decimals are valid.
			amount: wireAmount(amountMinor, currency, 2),
			currency
		},
		true
	);
	return submitOutcome(outcome, 'refundId', reference, PASSING_FOR_REFUNDS);
}

const MESSAGE = { min: 4, max: 22 };

/** Writes the payer's text: 4 to 22 letters, digits and spaces. */
export function customerMessage(description: string): string {
	const plain = plainText(description.replace(/[-'\u2019]/g, ''), MESSAGE.max, /[^A-Za-z0-9]+/g);
	return plain.length < MESSAGE.min ? `WiFi ${plain}`.trim() : plain;
}
