import { airtelProtocol } from './airtel.ts';
import type { Protocol } from './frame.ts';
import { mpesa } from './mpesa.ts';
import { mtn } from './mtn.ts';
import { checkOptions, type ProtocolOptions } from './options.ts';
import { pawapay } from './pawapay.ts';
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
