import { getCountryCallingCode, type CountryCode } from 'libphonenumber-js/mobile';
import { CURRENCIES, toMajor, toMinor } from '#lib/domain/money.ts';
import { defineOperator, type OperatorDependencies } from '../definition.ts';
import { jsonObject, textMember } from '../http.ts';
import { callbackHint, causeOf, statusOutcome, submitOutcome, type ReadMoney } from './outcomes.ts';
import { createProduct, type Product } from './product.ts';
import { checkSettings, payersCountry, SANDBOX, SETTINGS, wireCurrency, type Values } from './settings.ts';
import type { OperatorAdapter, PaymentRequest, RefundRequest, SubmitOutcome } from '../operator.ts';

/**
 * MTN MoMo: payments with Collections (request to pay), refunds with Disbursements. Source: MTN's developer pages,
 * reference section 1.
 */
export const mtn = defineOperator({
	id: 'mtn',
	name: 'MTN MoMo',
	settings: SETTINGS,
	methods: () => ['mtn_momo'],
	check: checkSettings,
	create: createAdapter,
	statement: {
		reference: ['External id', 'External ID', 'External Transaction Id', 'externalId'],
		providerReference: [
			'Id',
			'ID',
			'Transaction ID',
			'Financial Transaction Id',
			'Financial Transaction ID',
			'financialTransactionId'
		],
		amount: ['Amount', 'amount'],
		status: { names: ['Status', 'status'], settled: ['Successful', 'SUCCESSFUL', 'Completed', 'COMPLETED'] }
	}
});

/** MTN refuses longer notes and special characters. */
const MAX_NOTE_LENGTH = 160;
const APPROVAL_SECONDS = 5 * 60;
const FIRST_READ_SECONDS = 3;
/** The sandbox's test numbers (country code of Sweden), valid for every market. */
const TEST_NUMBER = /^\+467331234\d\d$/;

function createAdapter(values: Values, { http, clock, currency }: OperatorDependencies): OperatorAdapter {
	const wire = wireCurrency(values, currency);
	const isSandbox = values.MTN_TARGET_ENVIRONMENT === SANDBOX;
	const country = payersCountry(values);
	const prefix = country === null ? '+' : `+${getCountryCallingCode(country as CountryCode)}`;
	const [collection, disbursement] = createProducts();

	function createProducts(): [Product, Product | null] {
		const { MTN_BASE_URL: base, MTN_TARGET_ENVIRONMENT: targetEnvironment } = values;
		const collecting = { apiUser: values.MTN_API_USER, apiKey: values.MTN_API_KEY };
		const { MTN_DISBURSEMENT_API_USER: apiUser, MTN_DISBURSEMENT_API_KEY: apiKey } = values;
		const disbursing = apiUser === undefined || apiKey === undefined ? collecting : { apiUser, apiKey };
		const make = (name: string, subscriptionKey: string, user: typeof collecting) =>
			createProduct({ url: `${base}/${name}`, targetEnvironment, subscriptionKey, ...user }, http, clock);
		const refundKey = values.MTN_DISBURSEMENT_SUBSCRIPTION_KEY;
		return [
			make('collection', values.MTN_SUBSCRIPTION_KEY, collecting),
			refundKey === undefined ? null : make('disbursement', refundKey, disbursing)
		];
	}

	const takesNumber = (phone: string) =>
		/^\+\d{7,15}$/.test(phone) && (phone.startsWith(prefix) || (isSandbox && TEST_NUMBER.test(phone)));

	function validate({
		amountMinor,
		currency: asked,
		payerPhone
	}: Parameters<OperatorAdapter['validate']>[0]): string[] {
		const problems: string[] = [];
		if (asked !== currency) problems.push(`MTN MoMo is set up for ${currency}, not for ${asked}.`);
		if (!Number.isSafeInteger(amountMinor) || amountMinor <= 0) problems.push('The amount must be positive.');
		if (!takesNumber(payerPhone)) problems.push(`The number is not one of MTN MoMo's payers (${prefix}…).`);
		return problems;
	}

	/** Payments use our currency; a payment taken in another currency is refunded in that one. */
	const money = (amountMinor: number, code: string) => ({
		amount: String(toMajor(amountMinor, code)),
		currency: code === currency ? wire : code
	});

	const readMoney: ReadMoney = (body) => {
		const told = textMember(body, 'currency');
		const ours = told === wire ? currency : told;
		const amount = textMember(body, 'amount');
		if (amount === null) return { amountMinor: null, currency: ours };
		const counted = ours ?? currency;
		if (!/^\d+(\.\d+)?$/.test(amount) || !CURRENCIES.includes(counted)) return null;
		const amountMinor = toMinor(Number(amount), counted);
		return amountMinor === null ? null : { amountMinor, currency: ours };
	};

	function callbackFor({ callbackUrl }: PaymentRequest): string | null {
		const isCalled = !isSandbox || callbackUrl.startsWith('http:');
		return values.MTN_CALLBACKS === 'on' && isCalled ? callbackUrl : null;
	}

	async function submit(request: PaymentRequest): Promise<SubmitOutcome> {
		const [problem] = validate(request);
		if (problem !== undefined) {
			const reason = takesNumber(request.payerPhone) ? 'merchant_error' : 'invalid_payer';
			return { kind: 'refused', reason, message: problem, retryable: false, raw: problem };
		}
		const outcome = await collection.post('/v1_0/requesttopay', {
			reference: request.reference,
			callbackUrl: callbackFor(request),
			body: {
				...money(request.amountMinor, request.currency),
				externalId: request.reference,
				payer: { partyIdType: 'MSISDN', partyId: request.payerPhone.slice(1) },
				payerMessage: plainText(request.description),
				payeeNote: request.reference
			}
		});
		return submitOutcome(outcome);
	}

	const refunds = (product: Product) => ({
		async refund({ reference, payment, amountMinor, currency: code }: RefundRequest): Promise<SubmitOutcome> {
			if (!CURRENCIES.includes(code) || !Number.isSafeInteger(amountMinor) || amountMinor <= 0) {
				const message = `MTN MoMo cannot send back ${amountMinor} minor units of ${code}.`;
				return { kind: 'refused', reason: 'merchant_error', message, retryable: false, raw: message };
			}
			const outcome = await product.post(`/${values.MTN_REFUND_VERSION}/refund`, {
				reference,
				callbackUrl: null,
				body: {
					...money(amountMinor, code),
					externalId: reference,
					payerMessage: 'Refund',
					payeeNote: 'Refund',
					referenceIdToRefund: payment.reference
				}
			});
			return submitOutcome(outcome);
		},
		async readRefund({ reference }: { reference: string }) {
			return statusOutcome(await product.get(`/v1_0/refund/${reference}`), readMoney);
		}
	});

	async function health(): Promise<{ ok: boolean; reason: string | null }> {
		const wrong = (reason: string) => ({ ok: false, reason });
		const groups = [
			{ product: collection, keys: 'MTN_API_USER, MTN_API_KEY and MTN_SUBSCRIPTION_KEY' },
			...(disbursement ? [{ product: disbursement, keys: 'the MTN_DISBURSEMENT_ credentials' }] : [])
		];
		for (const { product, keys } of groups) {
			const token = await product.token();
			if (token.kind === 'refused') return wrong(`MTN MoMo refuses ${keys}: HTTP ${token.status}.`);
			if (token.kind === 'unavailable')
				return wrong(`${values.MTN_BASE_URL} gives no token: ${token.cause}.`);
		}
		// The token says nothing about market and currency. Not every account may read its balance, so only a refusal
		// counts.
		const balance = await collection.get('/v1_0/account/balance');
		if (balance.kind !== 'answer')
			return wrong(`${values.MTN_BASE_URL} does not answer: ${causeOf(balance)}.`);
		const body = jsonObject(balance.text);
		if (textMember(body, 'code') === 'NOT_ALLOWED_TARGET_ENVIRONMENT') {
			return wrong(`MTN_TARGET_ENVIRONMENT: MTN MoMo refuses ${values.MTN_TARGET_ENVIRONMENT}.`);
		}
		const held = balance.status === 200 ? textMember(body, 'currency') : null;
		if (held !== null && held !== wire) return wrong(`MTN_CURRENCY: the account's is ${held}, not ${wire}.`);
		return { ok: true, reason: null };
	}

	return {
		id: 'mtn',
		capabilities: {
			clientReference: 'uuid',
			statusByOurReference: true,
			statusReturnsAmount: true,
			callback: { methods: ['POST', 'PUT'], authenticity: 'none', perRequestUrl: true, answer: null },
			refund: disbursement ? 'partial' : 'none',
			payerCheck: false,
			approvalWindowSeconds: APPROVAL_SECONDS,
			minStatusDelaySeconds: FIRST_READ_SECONDS,
			// A repeated request gets 409 RESOURCE_ALREADY_EXIST.
			resubmitSameReferenceSafe: true
		},
		takesNumber,
		validate,
		submit,
		async readStatus({ reference }) {
			return statusOutcome(await collection.get(`/v1_0/requesttopay/${reference}`), readMoney);
		},
		parseCallback: async ({ body }) => callbackHint(body, readMoney),
		...(disbursement ? refunds(disbursement) : {}),
		health
	};
}

/** Keeps unaccented letters, digits and ` .,-`: MTN refuses apostrophes, for example. */
function plainText(text: string): string {
	const plain = text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.replace(/[^A-Za-z0-9 .,-]+/g, ' ')
		.replace(/ {2,}/g, ' ')
		.slice(0, MAX_NOTE_LENGTH)
		.trim();
	return plain === '' ? 'Payment' : plain;
}
