import { getCountryCallingCode, type CountryCode } from 'libphonenumber-js/mobile';
import { ruleInMajor } from '#lib/domain/payment-methods/chargeable.ts';
import { toMajor } from '#lib/domain/money.ts';
import { defineOperator, type OperatorDependencies } from '../definition.ts';
import type {
	AttemptReference,
	OperatorAdapter,
	PaymentRequest,
	RefundRequest,
	StatusOutcome,
	SubmitOutcome
} from '../operator.ts';
import { busy, refused } from '../outcomes.ts';
import { plainText } from '../plain-text.ts';
import { paymentOutcome, refundOutcome, statusOutcome } from './outcomes.ts';
import { parseCallback } from './callback.ts';
import { createAirtelClient, type AirtelClient } from './client.ts';
import { idOf, referenceOf } from './ids.ts';
import { checkSettings, SETTINGS, type AirtelValues } from './settings.ts';

/** Airtel Money, Collection API ("USSD Push"). The portal holds one callback address for all payments. */
export const airtel = defineOperator({
	id: 'airtel',
	name: 'Airtel Money',
	settings: SETTINGS,
	methods: () => ['airtel_money'],
	needsHttps: true,
	check: checkSettings,
	create: createAirtel,
	statement: {
		reference: ['External ID', 'External Transaction ID', 'Partner Transaction ID', 'Reference ID'],
		referenceStart: referenceOf,
		providerReference: ['Airtel Money ID', 'Transaction ID', 'Txn ID'],
		amount: ['Transaction Amount', 'Amount'],
		status: {
			names: ['Transaction Status', 'Status'],
			settled: ['TS', 'Transaction Success', 'Success', 'Successful']
		}
	}
});

/** From one client's documentation; Airtel names no limit. */
const MAX_REFERENCE_LENGTH = 25;

interface AirtelContext {
	values: AirtelValues;
	client: AirtelClient;
	/** Digits, without `+`. */
	callingCode: string;
}

/**
 * Airtel Money collections (developers.airtel.africa, Collection APIs). `SUCCESS` for a payment only means that the
 * payer was prompted. The status read names no amount. A refund has neither our reference nor a readable state.
 */
function createAirtel(values: AirtelValues, dependencies: OperatorDependencies): OperatorAdapter {
	const client = createAirtelClient(values, dependencies);
	const callingCode = getCountryCallingCode(values.AIRTEL_COUNTRY as CountryCode);
	const context: AirtelContext = { values, client, callingCode };
	return {
		id: 'airtel',
		currency: values.AIRTEL_CURRENCY,
		capabilities: {
			usesPortalCallback: true,
			// Airtel recommends three minutes, but the buyer's page needs an earlier read.
			minStatusDelaySeconds: 20,
			// A status read may not know a queued payment for minutes.
			notFoundFinalSeconds: 300,
			// Airtel refuses a second request (ESB000041), but does not document from which moment on.
			refundsByTransaction: true,
			resubmitSameReferenceSafe: false
		},
		takesNumber: (phone) => phone.startsWith(`+${callingCode}`),
		amounts: () =>
			ruleInMajor(values.AIRTEL_CURRENCY, {
				decimals: values.AIRTEL_DECIMALS,
				min: values.AIRTEL_MIN_AMOUNT,
				max: values.AIRTEL_MAX_AMOUNT
			}),
		submit: (request) => submit(context, request),
		readStatus: (attempt) => readStatus(context, attempt),
		parseCallback: async ({ body }) => parseCallback(body, values.AIRTEL_CALLBACK_KEY),
		refund: (request) => refund(context, request),
		readRefund: (request) => readRefund(context, request),
		health: client.check
	};
}

async function submit(context: AirtelContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { values, client, callingCode } = context;
	const id = idOf(request.reference, values.AIRTEL_ID_FORMAT);
	const number = request.payerPhone.slice(1 + callingCode.length);
	const msisdn = values.AIRTEL_LEADING_ZERO === 'on' && !number.startsWith('0') ? `0${number}` : number;
	const market = { country: values.AIRTEL_COUNTRY, currency: values.AIRTEL_CURRENCY };
	const sent = await client.post(`/merchant/${values.AIRTEL_API_VERSION}/payments/`, {
		reference: textFor(request),
		subscriber: { ...market, msisdn },
		transaction: { amount: toMajor(request.amountMinor, request.currency), ...market, id }
	});
	return paymentOutcome(sent, id);
}

async function readStatus(
	{ values, client }: AirtelContext,
	{ reference, operatorReference }: Pick<AttemptReference, 'reference' | 'operatorReference'>
): Promise<StatusOutcome> {
	const id = operatorReference ?? idOf(reference, values.AIRTEL_ID_FORMAT);
	return statusOutcome(await client.get(`/standard/v1/payments/${encodeURIComponent(id)}`), id);
}

/**
 * Refunds the whole amount. Airtel takes no refund reference, so callers must send it at most once. Reads the
 * status first, so that an unpaid or refunded payment is not refunded.
 */
async function refund(context: AirtelContext, { payment }: RefundRequest): Promise<SubmitOutcome> {
	const before = await readStatus(context, payment);
	const raw = 'raw' in before ? before.raw : before.cause;
	const refuse = (message: string) => refused('merchant_error', message, `${message} ${raw}`);
	if (before.kind === 'unavailable' || before.kind === 'pending') {
		return busy('The payment could not be looked up before its refund.', raw);
	}
	if (before.kind !== 'succeeded' && before.kind !== 'not_found') {
		return refuse('Airtel no longer says that the payment is paid.');
	}
	const named = before.kind === 'succeeded' ? before.providerReference : null;
	const airtelMoneyId = payment.providerReference ?? named;
	if (airtelMoneyId === null) return refuse('The payment has no airtel_money_id.');
	if ((named ?? airtelMoneyId) !== airtelMoneyId) {
		return refuse(`Airtel names transaction ${named}, not ${airtelMoneyId}.`);
	}
	const path = `/standard/${context.values.AIRTEL_REFUND_VERSION}/payments/refund`;
	const sent = await context.client.post(path, { transaction: { airtel_money_id: airtelMoneyId } });
	return refundOutcome(sent, airtelMoneyId);
}

/**
 * `SUCCESS` is final: Airtel has no other confirmation. A lost response looks like a lost request, because
 * the payment reads `TS` before and after the refund.
 */
async function readRefund(
	context: AirtelContext,
	{ operatorReference, payment }: RefundRequest
): Promise<StatusOutcome> {
	if (operatorReference !== null) {
		const raw = JSON.stringify({ airtel_money_id: operatorReference, status: 'SUCCESS' });
		const paid = { providerReference: operatorReference, amountMinor: null, currency: null };
		return { kind: 'succeeded', ...paid, raw };
	}
	const now = await readStatus(context, payment);
	if (now.kind === 'unavailable') return now;
	const cause = `Airtel has not confirmed the refund, and has no state of refunds; it calls the payment ${now.kind.replace('_', ' ')}`;
	return { kind: 'unreadable', cause, ...('raw' in now && { raw: now.raw }) };
}

/**
 * The payer's text: the description and the start of our reference. It differs per payment, because Airtel
 * may detect duplicates by it (one client's documentation).
 */
function textFor({ description, reference }: Pick<PaymentRequest, 'description' | 'reference'>): string {
	const code = reference.slice(0, 8);
	const unquoted = description.replace(/['\u2019]/g, '');
	const words = plainText(unquoted, MAX_REFERENCE_LENGTH - code.length - 1, /[^A-Za-z0-9 -]+/g);
	return `${words} ${code}`.trim();
}
