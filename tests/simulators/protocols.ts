import { airtelProtocol } from './airtel.ts';
import { type Protocol, type ProtocolOptions, checkOptions } from './simulator.ts';
import { mpesa } from './mpesa.ts';
import { mtn } from './mtn.ts';
import { pawapay } from './pawapay.ts';
import { africasTalkingProtocol, httpSmsProtocol } from './sms.ts';

/** The simulated operators and SMS providers, by the name that `npm run simulator` takes. */
export const PROTOCOLS: Readonly<Record<string, (options: ProtocolOptions) => Protocol>> = {
	mtn,
	mpesa,
	airtel: withoutOptions(airtelProtocol),
	pawapay: withoutOptions(pawapay),
	africastalking: withoutOptions(africasTalkingProtocol),
	sms: withoutOptions(httpSmsProtocol)
};

function withoutOptions(make: () => Protocol): (options: ProtocolOptions) => Protocol {
	return (options) => {
		checkOptions(options, []);
		return make();
	};
}

/** The simulated operators, with what a test must know to buy through each of them. */
export interface OperatorFacts {
	/** As `npm run simulator` calls it. */
	name: string;
	/** The definition's id: in payments, callback addresses and doctor. */
	id: string;
	method: string;
	/** E.164 of a payer without the last six digits. */
	phone: string;
	options: Record<string, string>;
	/** The operator's own codes. */
	codes: { declined: string; noMoney: string };
	/** Whether a status read or a callback tells what was taken. */
	tellsAmount: boolean;
	/** Whether a request that never arrived is sent again. */
	resends: boolean;
	/** Whether the callback address is set in the operator's portal. */
	hasPortal: boolean;
}

export const OPERATORS: readonly OperatorFacts[] = [
	{
		name: 'mtn',
		id: 'mtn',
		method: 'mtn_momo',
		phone: '+256772',
		options: { market: 'mtnuganda' },
		codes: { declined: 'APPROVAL_REJECTED', noMoney: 'NOT_ENOUGH_FUNDS' },
		tellsAmount: true,
		resends: true,
		hasPortal: false
	},
	{
		name: 'mpesa',
		id: 'daraja',
		method: 'mpesa',
		phone: '+254712',
		options: {},
		codes: { declined: '1032', noMoney: '1' },
		tellsAmount: true,
		resends: false,
		hasPortal: false
	},
	{
		name: 'airtel',
		id: 'airtel',
		method: 'airtel_money',
		phone: '+256701',
		options: {},
		codes: { declined: 'DP00800001008', noMoney: 'DP00800001007' },
		tellsAmount: false,
		resends: false,
		hasPortal: true
	},
	{
		name: 'pawapay',
		id: 'pawapay',
		method: 'mtn_momo',
		phone: '+256772',
		options: {},
		codes: { declined: 'PAYMENT_NOT_APPROVED', noMoney: 'INSUFFICIENT_BALANCE' },
		tellsAmount: true,
		resends: true,
		hasPortal: true
	}
];
