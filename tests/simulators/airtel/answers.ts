/** Airtel's words: codes, the forms of an error, and the state of a transaction. */
import type { SimulatorAnswer } from '../frame/protocol.ts';

export const MESSAGES: Readonly<Record<string, string>> = {
	DP00800001000: 'The transaction is still processing and is in ambiguous state.',
	DP00800001001: 'Transaction is successful.',
	DP00800001002: 'Incorrect pin has been entered.',
	DP00800001003: 'The User has exceeded their wallet allowed transaction limit.',
	DP00800001004: 'The amount User is trying to transfer is less than the minimum amount allowed.',
	DP00800001005: "User didn't enter the pin.",
	DP00800001006: 'Transaction in pending state. Please check after sometime.',
	DP00800001007: 'User wallet does not have enough money to cover the payable amount.',
	DP00800001008: 'The transaction was refused.',
	DP00800001009: 'This is a generic refusal that has several possible causes.',
	DP00800001010: 'Payee is already initiated for churn or barred or not registered on Airtel Money platform.',
	DP00800001024: 'The transaction was timed out.',
	DP00800001025: 'The transaction was not found.',
	DP00800001026: 'X-signature and payload did not match.',
	DP00800001029: 'Transaction has been expired.',
	ESB000001: 'Something went wrong.',
	ESB000004: 'An error occurred while initiating the payment.',
	ESB000008: 'Field validation.',
	ESB000011: 'Failed.',
	ESB000014: 'An error occurred while fetching the transaction status.',
	ESB000033: 'Invalid MSISDN Length.',
	ESB000034: 'Invalid Country Name.',
	ESB000035: 'Invalid Currency Code.',
	ESB000036: 'Invalid MSISDN Length. MSISDN should start with 0.',
	ESB000039: 'Vendor is not configured to do transaction in the country.',
	ESB000041: 'Transaction with External Transaction ID already exists.',
	ESB000045: 'No Transaction Found With Provided Transaction Id.',
	ROUTER001: 'Wallet is not configured.',
	ROUTER003: 'Mandatory parameters are missing either in the header or body.',
	ROUTER005: 'Country route is not configured.',
	ROUTER006: 'Invalid country code provided.',
	ROUTER007: 'Not authorized to perform any operations in the provided country.',
	ROUTER112: 'Invalid currency provided.',
	ROUTER117: 'Request timeout.',
	ROUTER119: 'Invalid or missing currency.'
};

/** HTTP status of a code; 400 for what is not listed. */
const HTTP_STATUS: Readonly<Record<string, number>> = {
	ROUTER007: 403,
	ROUTER117: 408,
	ESB000001: 500,
	ESB000004: 500,
	ESB000014: 500,
	DP00800001026: 403
};

export const down = (): SimulatorAnswer => ({
	status: 500,
	body: {
		status: { response_code: 'DP00800001005', code: '500', success: false, message: 'Something Went Wrong' }
	}
});

export const error = (status: number, code: string, description: string): SimulatorAnswer => ({
	status,
	body: { error_description: description, error: code }
});

/**
 * An error with a code. Gateway codes come in the gateway's own form, the product's in the product's.
 * @param otherForm the other one of both
 */
export function coded(code: string, otherForm = false): SimulatorAnswer {
	const message = MESSAGES[code] ?? 'Failed';
	const status = HTTP_STATUS[code] ?? 400;
	if (code.startsWith('ROUTER') !== otherForm) {
		return { status, body: { status_message: message, status_code: code } };
	}
	const named = code.startsWith('DP') ? { response_code: code } : { result_code: code };
	return { status, body: { status: { ...named, code: String(status), success: false, message } } };
}

export const fine = (responseCode: string, success: boolean) => ({
	code: '200',
	message: 'SUCCESS',
	result_code: 'ESB000010',
	response_code: responseCode,
	success
});

/** Airtel's word for an outcome. @param otherForm `TA` where an open payment could read `TIP` */
export function stateOf(outcome: string, otherForm: boolean): string {
	if (outcome === 'success') return 'TS';
	if (outcome === 'pending') return otherForm ? 'TA' : 'TIP';
	if (outcome === 'TA') return 'TA';
	return outcome === 'TE' || outcome === 'DP00800001029' ? 'TE' : 'TF';
}

export function codeOf(state: string, outcome: string): string {
	if (outcome.startsWith('DP')) return outcome;
	if (state === 'TE') return 'DP00800001029';
	if (state === 'TA') return 'DP00800001000';
	return state === 'TF' ? 'DP00800001009' : 'DP00800001006';
}

/** The answer to a user enquiry. */
export function user(msisdn: string, isKnown: boolean): SimulatorAnswer {
	const status = { code: isKnown ? '200' : '404', success: isKnown };
	if (!isKnown) {
		return {
			status: 404,
			body: { status: { ...status, message: 'User Not Found', response_code: 'DP02200000002' } }
		};
	}
	return {
		status: 200,
		body: {
			data: {
				first_name: 'Test',
				last_name: 'Payer',
				grade: 'SUBS',
				is_barred: false,
				is_pin_set: true,
				msisdn,
				reg_status: 'Y',
				registration: { status: 'SUBS' }
			},
			status: { ...status, message: 'SUCCESS', result_code: 'ESB000010', response_code: 'DP02200000001' }
		}
	};
}
