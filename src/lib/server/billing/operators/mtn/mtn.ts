import { getCountryCallingCode, type CountryCode } from 'libphonenumber-js/mobile';
import { ANY_AMOUNT } from '#lib/domain/payment-methods/chargeable.ts';
import { CURRENCIES, readAmountWith, toMajor } from '#lib/domain/money.ts';
import { defineOperator, type OperatorDependencies } from '../definition.ts';
import { jsonObject, textMember } from '../response.ts';
import type { OperatorResponse, Client } from '../client.ts';
import type {
	MoneyTaken,
	OperatorAdapter,
	PaymentRequest,
	RefundRequest,
	SubmitOutcome
} from '../operator.ts';
import { causeOf, refused } from '../outcomes.ts';
import { plainText } from '../plain-text.ts';
import { parseCallback } from './callback.ts';
import { statusOutcome, submitOutcome, type ReadMoney } from './outcomes.ts';
import { createMtnClients } from './client.ts';
import { checkSettings, payersCountry, SANDBOX, SETTINGS, wireCurrency, type MtnValues } from './settings.ts';

/** MTN MoMo: Collections (request to pay) for payments, Disbursements for refunds (momodeveloper.mtn.com). */
export const mtn = defineOperator({
	id: 'mtn',
	name: 'MTN MoMo',
	settings: SETTINGS,
	methods: () => ['mtn_momo'],
	check: checkSettings,
	create: createMtn,
	statement: {
		reference: ['External id', 'External Transaction Id'],
		providerReference: ['Id', 'Transaction ID', 'Financial Transaction Id'],
		amount: ['Amount'],
		status: { names: ['Status'], settled: ['Successful', 'Completed'] }
	}
});

/** MTN refuses longer notes and special characters. */
const MAX_NOTE_LENGTH = 160;
const FIRST_READ_SECONDS = 3;
/** Test numbers of the sandbox (Swedish country code), valid in every market. */
const TEST_NUMBER = /^\+467331234\d\d$/;

interface MtnContext {
	values: MtnValues;
	currency: string;
	/** MTN's currency code; EUR in the sandbox. */
	wire: string;
	/** Start of payers' numbers, e.g. `+256`. */
	prefix: string;
	collection: Client;
	disbursement: Client | null;
}

function createMtn(values: MtnValues, dependencies: OperatorDependencies): OperatorAdapter {
	const { currency } = dependencies;
	const country = payersCountry(values);
	const context: MtnContext = {
		values,
		currency,
		wire: wireCurrency(values, currency),
		prefix: country === null ? '+' : `+${getCountryCallingCode(country as CountryCode)}`,
		...createMtnClients(values, dependencies)
	};
	const { collection, disbursement } = context;
	const readMoney: ReadMoney = (body) => moneyOf(context, body);
	return {
		id: 'mtn',
		currency,
		capabilities: {
			minStatusDelaySeconds: FIRST_READ_SECONDS,
			// MTN answers a repeated request with 409 RESOURCE_ALREADY_EXIST.
			resubmitSameReferenceSafe: true
		},
		takesNumber: (phone) => takesNumber(context, phone),
		amounts: () => ANY_AMOUNT,
		submit: (request) => submit(context, request),
		readStatus: async ({ reference }) =>
			statusOutcome(await collection.get(`/v1_0/requesttopay/${reference}`), readMoney),
		parseCallback: async ({ body }) => parseCallback(body, readMoney),
		...(disbursement && {
			refund: (request) => refund(context, disbursement, request),
			readRefund: async ({ reference }) =>
				statusOutcome(await disbursement.get(`/v1_0/refund/${reference}`), readMoney)
		}),
		health: () => healthProblem(context)
	};
}

const isSandbox = ({ values }: MtnContext) => values.MTN_TARGET_ENVIRONMENT === SANDBOX;

const takesNumber = (context: MtnContext, phone: string) =>
	/^\+\d{7,15}$/.test(phone) &&
	(phone.startsWith(context.prefix) || (isSandbox(context) && TEST_NUMBER.test(phone)));

/** Refunds use the currency that was taken, which may differ from ours. */
const money = ({ currency, wire }: MtnContext, amountMinor: number, code: string) => ({
	amount: String(toMajor(amountMinor, code)),
	currency: code === currency ? wire : code
});

function moneyOf({ currency, wire }: MtnContext, body: Record<string, unknown>): MoneyTaken | null {
	const code = textMember(body, 'currency');
	const ours = code === wire ? currency : code;
	const amount = textMember(body, 'amount');
	if (amount === null) return { amountMinor: null, currency: ours };
	const counted = ours ?? currency;
	const amountMinor = CURRENCIES.includes(counted) ? readAmountWith('.', amount, counted) : null;
	return typeof amountMinor === 'number' && amountMinor > 0 ? { amountMinor, currency: ours } : null;
}

async function submit(context: MtnContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { values, collection } = context;
	const { reference, callbackUrl, payerPhone } = request;
	const isCalled = !isSandbox(context) || callbackUrl.startsWith('http:');
	const body = {
		...money(context, request.amountMinor, request.currency),
		externalId: reference,
		payer: { partyIdType: 'MSISDN', partyId: payerPhone.slice(1) },
		payerMessage: plainText(request.description, MAX_NOTE_LENGTH) || 'Payment',
		payeeNote: reference
	};
	const headers = {
		'X-Reference-Id': reference,
		// MTN refuses an empty one.
		...(values.MTN_CALLBACKS === 'on' && isCalled && { 'X-Callback-Url': callbackUrl })
	};
	return submitOutcome(await collection.post('/v1_0/requesttopay', body, headers));
}

async function refund(
	context: MtnContext,
	disbursement: Client,
	{ reference, payment, amountMinor, currency }: RefundRequest
): Promise<SubmitOutcome> {
	if (!CURRENCIES.includes(currency) || !Number.isSafeInteger(amountMinor) || amountMinor <= 0) {
		return refused('merchant_error', `MTN MoMo cannot refund ${amountMinor} minor units of ${currency}.`);
	}
	const body = {
		...money(context, amountMinor, currency),
		externalId: reference,
		payerMessage: 'Refund',
		payeeNote: 'Refund',
		referenceIdToRefund: payment.reference
	};
	const path = `/${context.values.MTN_REFUND_VERSION}/refund`;
	return submitOutcome(await disbursement.post(path, body, { 'X-Reference-Id': reference }));
}

async function healthProblem({ values, wire, collection, disbursement }: MtnContext): Promise<string | null> {
	const noToken =
		(await collection.tokenProblem('MTN_API_USER, MTN_API_KEY and MTN_SUBSCRIPTION_KEY')) ??
		(await disbursement?.tokenProblem('the MTN_DISBURSEMENT_ credentials'));
	if (noToken) return noToken;
	// The token says nothing about market and currency. The balance does, but not every account may read it.
	const balance = await collection.get('/v1_0/account/balance');
	if (balance.kind !== 'response') return `${values.MTN_BASE_URL} does not answer: ${causeOf(balance)}.`;
	const body = jsonObject(balance.text);
	if (textMember(body, 'code') === 'NOT_ALLOWED_TARGET_ENVIRONMENT') {
		return `MTN_TARGET_ENVIRONMENT: MTN MoMo refuses ${values.MTN_TARGET_ENVIRONMENT}.`;
	}
	if (balance.status === 401) return `MTN_API_USER: ${refusedUser('Collections', balance)}`;
	const held = balance.status === 200 ? textMember(body, 'currency') : null;
	if (held !== null && held !== wire) return `MTN_CURRENCY: the account's is ${held}, not ${wire}.`;
	// The user of another product also gets a token, but MTN refuses its refunds.
	const payouts = await disbursement?.get('/v1_0/account/balance');
	if (payouts === undefined || (payouts.kind === 'response' && payouts.status === 200)) return null;
	return payouts.kind === 'response'
		? `MTN_DISBURSEMENT_API_USER: ${refusedUser('Disbursements', payouts)}`
		: `${values.MTN_BASE_URL} does not answer: ${causeOf(payouts)}.`;
}

function refusedUser(product: string, { status, text }: OperatorResponse): string {
	const code = textMember(jsonObject(text), 'code');
	const answer = `HTTP ${status}${code === null ? '' : ` ${code}`}`;
	return `MTN MoMo refuses this user for ${product} (${answer}). Use one that was created with the subscription key of ${product}.`;
}
