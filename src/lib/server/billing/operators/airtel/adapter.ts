import { currencyExponent, toMajor } from '#lib/domain/money.ts';
import type { OperatorDependencies } from '../definition.ts';
import { jsonObject, member, textMember } from '../http.ts';
import type {
	AttemptReference,
	CallbackHint,
	OperatorAdapter,
	PaymentRequest,
	RawCallback,
	RefundReference,
	RefundRequest,
	StatusOutcome,
	SubmitOutcome
} from '../operator.ts';
import { paymentOutcome, refundOutcome, statusOutcome } from './answers.ts';
import { matchingVariant, type HashVariant } from './callback-hash.ts';
import { createConnection, type ConnectionSettings } from './connection.ts';
import { idOf, referenceOf, type IdFormat } from './ids.ts';

export interface AirtelSettings extends ConnectionSettings {
	/** Digits, without `+`. */
	callingCode: string;
	paymentPath: string;
	refundPath: string;
	idFormat: IdFormat;
	/** Numbers are sent with the leading 0. */
	leadingZero: boolean;
	/** Allowed in an amount. */
	decimals: number;
	/** In major units. */
	minAmount: number | null;
	maxAmount: number | null;
	/** null if callbacks are not authenticated. */
	callbackKey: string | null;
	hashVariants: readonly HashVariant[];
}

/** From the documentation of one client; the operator names no limit. */
const MAX_REFERENCE_LENGTH = 25;

/**
 * Airtel Money collections (mobile-money.md section 3). Specifics: numbers are sent without country code, tokens live
 * for minutes, `SUCCESS` for a payment only means that the payer was prompted, the status read names no amount, and a
 * refund has neither our reference nor a readable state.
 */
export function createAirtelAdapter(
	settings: AirtelSettings,
	dependencies: OperatorDependencies
): OperatorAdapter {
	const { country, currency } = settings;
	const connection = createConnection(settings, dependencies);

	const nationalNumber = (phone: string) => {
		const number = phone.slice(1 + settings.callingCode.length);
		return settings.leadingZero && !number.startsWith('0') ? `0${number}` : number;
	};

	const takesNumber = (phone: string) => phone.startsWith(`+${settings.callingCode}`);

	function validate(request: Pick<PaymentRequest, 'amountMinor' | 'currency' | 'payerPhone'>): string[] {
		const problems: string[] = [];
		if (request.currency !== currency) {
			return [`Airtel Money is set up for ${currency}, not ${request.currency}.`];
		}
		const amount = toMajor(request.amountMinor, currency);
		const step = 10 ** Math.max(0, currencyExponent(currency) - settings.decimals);
		if (request.amountMinor % step !== 0) problems.push('Airtel Money takes whole amounts only.');
		if (request.amountMinor <= 0) problems.push('The amount must be more than zero.');
		if (settings.minAmount !== null && amount < settings.minAmount) {
			problems.push(`Airtel Money takes ${currency} ${settings.minAmount} or more.`);
		}
		if (settings.maxAmount !== null && amount > settings.maxAmount) {
			problems.push(`Airtel Money takes ${currency} ${settings.maxAmount} at most.`);
		}
		if (!takesNumber(request.payerPhone)) {
			problems.push(`Airtel Money here takes numbers of +${settings.callingCode} only.`);
		}
		return problems;
	}

	async function submit(request: PaymentRequest): Promise<SubmitOutcome> {
		const [problem] = validate(request);
		if (problem !== undefined) {
			return { kind: 'refused', reason: 'merchant_error', message: problem, retryable: false, raw: problem };
		}
		const id = idOf(request.reference, settings.idFormat);
		const sent = await connection.post(settings.paymentPath, {
			reference: textFor(request),
			subscriber: { country, currency, msisdn: nationalNumber(request.payerPhone) },
			transaction: { amount: toMajor(request.amountMinor, currency), country, currency, id }
		});
		return afterSigning(sent, paymentOutcome(sent, id));
	}

	async function ask(reference: string, storedId: string | null): Promise<StatusOutcome> {
		const id = storedId ?? idOf(reference, settings.idFormat);
		return statusOutcome(await connection.get(`/standard/v1/payments/${encodeURIComponent(id)}`), id);
	}

	async function readStatus(attempt: AttemptReference): Promise<StatusOutcome> {
		const outcome = await ask(attempt.reference, attempt.operatorReference);
		if (outcome.kind === 'failed' && attempt.claim?.claimed === 'succeeded') {
			const message = `A callback said that it was paid; the enquiry says: ${outcome.message}`;
			return { kind: 'contradiction', message, raw: outcome.raw };
		}
		return outcome;
	}

	/**
	 * Refunds the whole amount. Airtel identifies no refund by a reference, so callers must follow the outcomes to send it
	 * at most once. Reads the status first, so that a payment that is not paid, or already refunded, is not refunded.
	 */
	async function refund({ payment }: RefundRequest): Promise<SubmitOutcome> {
		const before = await ask(payment.reference, payment.operatorReference);
		const raw = 'raw' in before ? before.raw : before.cause;
		const refused = (message: string, retryable: boolean): SubmitOutcome => {
			const reason = retryable ? 'provider_busy' : 'merchant_error';
			return { kind: 'refused', reason, message, retryable, raw: `${message} ${raw}` };
		};
		if (before.kind === 'unavailable' || before.kind === 'pending') {
			return refused('The payment could not be looked up before its refund.', true);
		}
		const stored = payment.providerReference;
		const named = before.kind === 'succeeded' ? before.providerReference : null;
		if (before.kind !== 'succeeded' && before.kind !== 'not_found') {
			return refused('Airtel does not say any more that the payment is paid.', false);
		}
		if (stored !== null && named !== null && stored !== named) {
			return refused(`Airtel names transaction ${named}, not ${stored}.`, false);
		}
		const airtelMoneyId = stored ?? named;
		if (airtelMoneyId === null) return refused('The payment has no airtel_money_id.', false);
		const sent = await connection.post(settings.refundPath, {
			transaction: { airtel_money_id: airtelMoneyId }
		});
		return afterSigning(sent, refundOutcome(sent, airtelMoneyId));
	}

	/**
	 * A refund that Airtel answered with SUCCESS is done; there is no other confirmation. A lost answer cannot be told from
	 * a request that never arrived, because the payment reads `TS` before and after.
	 */
	async function readRefund({ operatorReference, payment }: RefundReference): Promise<StatusOutcome> {
		if (operatorReference !== null) {
			const raw = JSON.stringify({ airtel_money_id: operatorReference, status: 'SUCCESS' });
			const unsaid = { amountMinor: null, currency: null, at: null };
			return { kind: 'succeeded', providerReference: operatorReference, ...unsaid, raw };
		}
		const now = await ask(payment.reference, payment.operatorReference);
		if (now.kind === 'unavailable') return now;
		const state = 'raw' in now ? `${now.kind} ${now.raw}` : now.kind;
		return {
			kind: 'unreadable',
			cause: `The answer to the refund was lost, and Airtel has no state of refunds; the payment reads: ${state}`
		};
	}

	async function parseCallback(raw: RawCallback): Promise<CallbackHint> {
		const body = jsonObject(raw.body);
		const transaction = member(body, 'transaction');
		const id = textMember(transaction, 'id');
		const reference = id === null ? null : referenceOf(id);
		const state = textMember(transaction, 'status_code') ?? textMember(transaction, 'status') ?? '';
		return {
			claimed: CLAIMS[state.trim().toUpperCase()] ?? 'unknown',
			authentic: authenticityOf(raw.body),
			reference,
			operatorReference: reference === null || id === null ? null : id.trim().toLowerCase(),
			providerReference: textMember(transaction, 'airtel_money_id'),
			amountMinor: null,
			currency: null
		};
	}

	function authenticityOf(body: string): CallbackHint['authentic'] {
		if (settings.callbackKey === null) return 'absent';
		const variant = matchingVariant(body, settings.callbackKey, settings.hashVariants);
		dependencies.log.debug({ variant }, 'hash of an Airtel callback');
		return variant === null ? 'invalid' : 'verified';
	}

	return {
		id: 'airtel',
		capabilities: {
			clientReference: 'string',
			statusByOurReference: true,
			statusReturnsAmount: false,
			callback: {
				methods: ['POST'],
				authenticity: settings.callbackKey === null ? 'none' : 'hmac',
				perRequestUrl: false,
				answer: null
			},
			refund: 'full',
			payerCheck: false,
			approvalWindowSeconds: 180,
			// Airtel recommends three minutes. The first read is for the buyer's page; callbacks do the rest.
			minStatusDelaySeconds: 20,
			// A status read may not know a queued payment for minutes (mobile-money.md section 8).
			notFoundFinalSeconds: 300,
			// A second request is refused (ESB000041), but it is not documented from which moment on.
			resubmitSameReferenceSafe: false
		},
		takesNumber,
		validate,
		submit,
		readStatus,
		parseCallback,
		refund,
		readRefund,
		async health() {
			const reason = await connection.check();
			return { ok: reason === null, reason };
		}
	};
}

const CLAIMS: Readonly<Record<string, CallbackHint['claimed']>> = {
	TS: 'succeeded',
	TF: 'failed',
	TE: 'failed',
	TIP: 'pending',
	TA: 'pending'
};

/**
 * The text for the payer: the description and the beginning of our reference. It differs for each payment, because one
 * client's documentation says that Airtel detects duplicates by this field, not by the id.
 */
function textFor({ description, reference }: Pick<PaymentRequest, 'description' | 'reference'>): string {
	const code = reference.slice(0, 8);
	const words = description
		.normalize('NFKD')
		.replace(/[^A-Za-z0-9 -]/g, '')
		.replace(/\s+/g, ' ')
		.trim();
	return `${words.slice(0, MAX_REFERENCE_LENGTH - code.length - 1).trim()} ${code}`.trim();
}

/** A mismatch after earlier matches with the same key means that the key changed: the request may be sent again. */
function afterSigning(sent: { keyMayBeOld?: boolean }, outcome: SubmitOutcome): SubmitOutcome {
	return sent.keyMayBeOld === true && outcome.kind === 'refused' ? { ...outcome, retryable: true } : outcome;
}
