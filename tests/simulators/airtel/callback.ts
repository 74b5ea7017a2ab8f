import { createHmac } from 'node:crypto';
import type { SimulatedPayment } from '../books.ts';
import type { OutgoingCallback } from '../frame/protocol.ts';
import type { CallbackScript } from '../script.ts';
import { codeOf, MESSAGES, stateOf } from './answers.ts';
import type { AirtelPortal } from './portal.ts';

/** @param key of callback authentication */
export function callbackOf(
	settings: AirtelPortal,
	key: string,
	payment: SimulatedPayment,
	outcome: string,
	{ alter }: CallbackScript
): OutgoingCallback | null {
	const url = settings.callback_url === '' ? payment.callbackUrl : settings.callback_url;
	if (url === null) return null;
	const state = stateOf(outcome, false);
	const paid = payment.amount * (alter === 'wrong_amount' ? 2 : payment.script.amountFactor);
	const moneyId = alter === 'forged_success' ? 'MP000000.0000.L00000' : payment.operatorReference;
	const transaction = {
		id: alter === 'wrong_id' ? '00000000-0000-4000-8000-000000000000' : payment.reference,
		message:
			state === 'TS'
				? `Paid ${payment.currency} ${paid.toLocaleString('en')} to AIRTILL Charge ${payment.currency} 0, Trans ID ${moneyId}.`
				: MESSAGES[codeOf(state, outcome)],
		// The page knows no TE here.
		status_code: state === 'TE' && !payment.script.otherForm ? 'TF' : state,
		...(state === 'TS' ? { airtel_money_id: moneyId } : {})
	};
	const spaces = payment.script.otherForm ? 1 : 0;
	const open = JSON.stringify({ transaction }, null, spaces);
	const hash = hashOf(
		settings,
		alter === 'bad_signature' || alter === 'forged_success' ? 'not the key' : key,
		transaction,
		open,
		alter
	);
	return {
		url,
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: hash === null ? open : `${open.replace(/\s*\}$/, '')}, "hash":"${hash}"}`
	};
}

function hashOf(
	settings: AirtelPortal,
	key: string,
	transaction: object,
	open: string,
	alter: CallbackScript['alter']
): string | null {
	if (settings.callback_authentication === 'off' || alter === 'no_signature') return null;
	const payload = {
		'transaction-json': JSON.stringify(transaction),
		// The exact bytes of the member in the body.
		'transaction-bytes': open.replace(/^\{\s*"transaction":\s*/, '').replace(/\s*\}$/, ''),
		body: `${open.replace(/\s*\}$/, '')}}`
	}[settings.callback_authentication];
	return createHmac('sha256', key).update(payload).digest('base64');
}
