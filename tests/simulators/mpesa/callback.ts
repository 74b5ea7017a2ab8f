/** Daraja's request to the `CallBackURL` of a push. */
import type { Books, SimulatedPayment } from '../books.ts';
import type { OutgoingCallback } from '../frame/protocol.ts';
import type { CallbackScript } from '../script.ts';
import { compactTime, receipt, resultNumber, resultText } from './answers.ts';

/** Nothing is sent before there is a result; `forged_success` comes with a receipt that nobody wrote. */
export function callback(
	payment: SimulatedPayment,
	outcome: string,
	{ alter }: CallbackScript,
	books: Books
): OutgoingCallback | null {
	if (payment.callbackUrl === null || outcome === 'pending') return null;
	const code = outcome === 'success' ? '0' : outcome;
	const taken = books.takenOf(payment) || payment.amount;
	const amount = { Name: 'Amount', Value: alter === 'wrong_amount' ? taken + 1 : taken };
	const receiptItem = {
		Name: 'MpesaReceiptNumber',
		Value: alter === 'forged_success' ? 'FORGED0001' : receipt('payment', payment.number)
	};
	const date = { Name: 'TransactionDate', Value: Number(compactTime(books.now())) };
	const number = { Name: 'PhoneNumber', Value: Number(payment.phone) };
	const masked = { Name: 'PhoneNumber', Value: `${payment.phone.slice(0, 6)}***${payment.phone.slice(-3)}` };
	// The list has no order; the balance usually has no value, and newer callbacks leave it out.
	const items = payment.script.otherForm
		? [masked, date, receiptItem, amount]
		: [amount, receiptItem, { Name: 'Balance' }, date, number];
	const stkCallback = {
		MerchantRequestID: payment.request['MerchantRequestID'],
		CheckoutRequestID:
			alter === 'wrong_id' ? checkoutRequestId(books.now(), 999, '254700000000') : payment.operatorReference,
		ResultCode: resultNumber(code),
		ResultDesc: resultText(code),
		...(code === '0' ? { CallbackMetadata: { Item: items } } : {})
	};
	return {
		url: payment.callbackUrl,
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ Body: { stkCallback } })
	};
}

/** `ws_CO_`, day, month, year, time, a counter and the end of the number. */
export function checkoutRequestId(now: number, number: number, phone: string): string {
	const time = compactTime(now);
	const date = time.slice(6, 8) + time.slice(4, 6) + time.slice(0, 4);
	return `ws_CO_${date}${time.slice(8)}${String(number).padStart(3, '0')}${phone.slice(-9)}`;
}
