import { airtelProtocol } from './airtel/airtel.ts';
import type { Protocol } from './frame/protocol.ts';
import { mpesa } from './mpesa/mpesa.ts';
import { mtn } from './mtn/mtn.ts';
import { checkOptions, type ProtocolOptions } from './options.ts';
import { pawapay } from './pawapay/pawapay.ts';
import { africasTalkingProtocol, httpSmsProtocol } from './sms.ts';

/** The simulated operators and SMS providers, by the name that `npm run simulator` takes. */
export const PROTOCOLS: Readonly<Record<string, (options: ProtocolOptions) => Protocol>> = {
	mtn,
	mpesa,
	airtel: (options) => {
		checkOptions(options, []);
		return airtelProtocol();
	},
	pawapay: (options) => {
		checkOptions(options, []);
		return pawapay();
	},
	africastalking: (options) => {
		checkOptions(options, []);
		return africasTalkingProtocol();
	},
	sms: (options) => {
		checkOptions(options, []);
		return httpSmsProtocol();
	}
};
