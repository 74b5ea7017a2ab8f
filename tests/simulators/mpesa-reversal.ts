import type { Books, SimulatedPayment, SimulatedRefund } from './books.ts';
import type { Desk, OutgoingCallback, SimulatorAnswer } from './simulator.ts';
import { ORDINARY, type RefundScript } from './script.ts';
import {
	compactTime,
	error,
	errorFor,
	field,
	invalid,
	isUrl,
	receipt,
	resultNumber,
	resultText
} from './mpesa-rules.ts';

/** Reversals and Transaction Status: answered at once with "accepted", and in truth with a POST to the `ResultURL`. */

/** A reversal beside its entry in the books. */
interface Reversal {
	originator: string;
	conversation: string;
	receipt: string;
	refund: SimulatedRefund | null;
	/** Known at once, as when the receipt does not exist; else the books know. */
	code: string | null;
	amount: string;
	original: string;
	payment: SimulatedPayment | null;
}

type Body = Record<string, unknown>;

/** @param mayAsk whether name and security credential are those of an initiator */
export function createReversals(
	mayAsk: (initiator: string, securityCredential: string) => boolean,
	parties: readonly string[]
) {
	const reversals: Reversal[] = [];
	let count = 0;

	const ids = () => {
		count += 1;
		return {
			originator: `${10_000 + count}-${70_000_000 + count}-1`,
			conversation: `AG_20261121_${count.toString(16).padStart(20, '0')}`
		};
	};

	const accepted = ({ originator, conversation }: ReturnType<typeof ids>) => ({
		status: 200,
		body: {
			OriginatorConversationID: originator,
			ConversationID: conversation,
			ResponseCode: '0',
			ResponseDescription: 'Accept the service request successfully.'
		}
	});

	/** The first field that is wrong, in the operator's words; null when none is. */
	function wrong(body: Body, command: string, party: string, identifiers: readonly string[]): string | null {
		if (!field(body, 'Initiator')) return 'Initiator';
		if (!/^[A-Za-z0-9+/]+={0,2}$/.test(field(body, 'SecurityCredential') ?? '')) return 'SecurityCredential';
		if (body['CommandID'] !== command) return 'CommandID';
		if (!parties.includes(field(body, party) ?? '')) return party;
		const [name = '', ...values] = identifiers;
		if (!values.includes(field(body, name) ?? '')) return name;
		if (!isUrl(field(body, 'ResultURL'))) return 'ResultURL';
		if (!isUrl(field(body, 'QueueTimeOutURL'))) return 'QueueTimeOutURL';
		const remarks = field(body, 'Remarks') ?? '';
		if (remarks.length < 1 || remarks.length > 100) return 'Remarks';
		return (field(body, 'Occasion') ?? '').length > 100 ? 'Occasion' : null;
	}

	const allowed = (body: Body): boolean =>
		mayAsk(field(body, 'Initiator') ?? '', field(body, 'SecurityCredential') ?? '');

	/** Why a reversal fails before any script is asked; null when it can be made. */
	function refusal(body: Body, payment: SimulatedPayment | undefined, books: Books): string | null {
		if (!allowed(body)) return '2001';
		if (!payment || books.takenOf(payment) === 0) return 'R000002';
		const back = books.refunds.filter(
			(refund) =>
				refund.paymentNumber === payment.number &&
				['success', 'pending'].includes(books.refundOutcome(refund))
		);
		if (back.length > 0) return 'R000001';
		return Number(field(body, 'Amount')) > books.takenOf(payment) ? 'R000002' : null;
	}

	const garbled = (body: Body, books: Books): boolean => {
		const asked = [field(body, 'OriginalConversationID'), field(body, 'TransactionID')];
		const reversal = reversals.find(({ originator }) => asked.includes(originator));
		const payment =
			reversal?.payment ??
			books.payments.find(
				({ number, request }) =>
					asked.includes(receipt('payment', number)) || asked.includes(String(request['MerchantRequestID']))
			);
		return payment?.script.unreadableResults === true;
	};

	/** Cut, without a result, or no JSON. */
	const unreadable = () =>
		['{"Result":{"ResultCode":0,"Result', '{"Result":{}}', '', '<oops'][(count += 1) % 4] ?? '';

	function enter(body: Body, script: RefundScript, desk: Desk): Reversal {
		const { books } = desk;
		const original = field(body, 'TransactionID') ?? '';
		const payment = books.payments.find(({ number }) => receipt('payment', number) === original);
		const code = refusal(body, payment, books);
		const reversal: Reversal = {
			...ids(),
			receipt: receipt('refund', count),
			refund: null,
			code,
			amount: field(body, 'Amount') ?? '',
			original,
			payment: payment ?? null
		};
		if (code === null && payment) {
			reversal.refund = {
				reference: reversal.originator,
				paymentNumber: payment.number,
				amount: Number(reversal.amount),
				currency: 'KES',
				queuedAt: books.now(),
				outcome: script.outcome,
				afterMs: script.afterMs
			};
			books.refunds.push(reversal.refund);
		}
		reversals.push(reversal);
		for (const how of script.callbacks) {
			for (let time = 0; time < how.times; time += 1) {
				desk.later((code === null ? script.afterMs : 0) + how.afterMs, () => {
					const result = resultOf(reversal, books);
					return result === null ? null : post(field(body, 'ResultURL'), result);
				});
			}
		}
		return reversal;
	}

	const codeOf = ({ code, refund }: Reversal, books: Books): string | null => {
		if (code !== null) return code;
		const outcome = refund ? books.refundOutcome(refund) : 'pending';
		if (outcome === 'pending') return null;
		return outcome === 'success' ? '0' : outcome;
	};

	/** The `Result` of a reversal; null while there is none. */
	function resultOf(reversal: Reversal, books: Books): object | null {
		const code = codeOf(reversal, books);
		if (code === null) return null;
		const details = [
			{ Key: 'DebitAccountBalance', Value: 'Working Account|KES|51661.00|51661.00|0.00|0.00' },
			{ Key: 'Amount', Value: Number(reversal.amount) },
			{ Key: 'TransCompletedTime', Value: Number(compactTime(books.now())) },
			{ Key: 'OriginalTransactionID', Value: reversal.original },
			{ Key: 'Charge', Value: 0 },
			{ Key: 'CreditPartyPublicName', Value: `${reversal.payment?.phone ?? ''} - Simulated Payer` },
			{ Key: 'DebitPartyPublicName', Value: 'Simulated Shop' }
		];
		return {
			Result: {
				ResultType: 0,
				ResultCode: resultNumber(code),
				ResultDesc: resultText(code),
				OriginatorConversationID: reversal.originator,
				ConversationID: reversal.conversation,
				TransactionID: reversal.receipt,
				...(code === '0' ? { ResultParameters: { ResultParameter: details } } : {}),
				ReferenceData: {
					ReferenceItem: { Key: 'QueueTimeoutURL', Value: 'https://daraja.invalid/reversalresults' }
				}
			}
		};
	}

	/** @param found the ids of the acknowledgement, which the result repeats */
	function statusOf(body: Body, books: Books, found: ReturnType<typeof ids>): object {
		const conversation = field(body, 'OriginalConversationID') ?? field(body, 'OriginatorConversationID');
		const id = field(body, 'TransactionID');
		const reversal = reversals.find(
			(one) => one.originator === conversation || one.conversation === conversation || one.receipt === id
		);
		// The id of a push's response is one of the proxy's, like those of other requests.
		const payment = books.payments.find(
			({ number, request }) =>
				receipt('payment', number) === id || request['MerchantRequestID'] === conversation
		);
		const common = (code: string) => ({
			ResultType: 0,
			ResultCode: resultNumber(code),
			ResultDesc: resultText(code),
			OriginatorConversationID: found.originator,
			ConversationID: found.conversation,
			TransactionID: id ?? reversal?.receipt ?? ''
		});
		if (!allowed(body)) return { Result: common('2001') };
		if (!reversal && !payment) return { Result: common('R000002') };
		const paid = payment && books.takenOf(payment) > 0;
		const code = reversal ? codeOf(reversal, books) : paid ? '0' : 'failed';
		const details = [
			{ Key: 'DebitPartyName', Value: 'Simulated Shop' },
			{
				Key: 'TransactionStatus',
				Value: code === null ? 'Authorized' : code === '0' ? 'Completed' : 'Failed'
			},
			{ Key: 'Amount', Value: reversal ? Number(reversal.amount) : payment ? books.takenOf(payment) : 0 },
			{ Key: 'ReceiptNo', Value: reversal?.receipt ?? (payment ? receipt('payment', payment.number) : id) },
			{ Key: 'DebitAccountBalance' },
			{ Key: 'FinalisedTime', Value: Number(compactTime(books.now())) },
			{ Key: 'ReasonType', Value: reversal ? 'Reversal via API' : 'Pay Bill Online' },
			...(reversal ? [{ Key: 'Originator Conversation ID', Value: reversal.originator }] : [])
		];
		return { Result: { ...common('0'), ResultParameters: { ResultParameter: details } } };
	}

	return {
		async request(body: Body, desk: Desk): Promise<SimulatorAnswer> {
			const identifiers = ['RecieverIdentifierType', '11', '4', '2'];
			const what = wrong(body, 'TransactionReversal', 'ReceiverParty', identifiers);
			if (what !== null) return invalid(what);
			if (!field(body, 'TransactionID')) return invalid('TransactionID');
			if (!/^[1-9]\d{0,8}(\.00?)?$/.test(field(body, 'Amount') ?? '')) return invalid('Amount');
			const { books } = desk;
			const payment = books.payments.find(
				({ number }) => receipt('payment', number) === field(body, 'TransactionID')
			);
			const script: RefundScript = { ...ORDINARY, ...payment?.script.refund };
			return desk.refund(script, {
				queue: () => enter(body, script, desk),
				answer: accepted,
				refuse: errorFor,
				rateLimited: () => errorFor('500.003.02'),
				serverError: () => errorFor('500.003.1001')
			});
		},
		status(body: Body, desk: Desk): SimulatorAnswer {
			const what = wrong(body, 'TransactionStatusQuery', 'PartyA', ['IdentifierType', '1', '2', '4']);
			if (what !== null) return invalid(what);
			const named = ['TransactionID', 'OriginalConversationID', 'OriginatorConversationID'];
			if (!named.some((name) => field(body, name)))
				return error(400, '400.002.02', 'Bad Request - Invalid TransactionID');
			const found = ids();
			desk.later(100, () => {
				const result = post(field(body, 'ResultURL'), statusOf(body, desk.books, found));
				return result && garbled(body, desk.books) ? { ...result, body: unreadable() } : result;
			});
			return accepted(found);
		}
	};
}

const post = (url: string | null, body: object): OutgoingCallback | null =>
	url === null
		? null
		: { url, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
