import { airtelProtocol } from './airtel.ts';
import type { Protocol } from './frame.ts';
import { mpesa } from './mpesa.ts';
import { mtn } from './mtn.ts';
import { checkOptions, type ProtocolOptions } from './options.ts';
import { pawapay } from './pawapay.ts';

/** The simulated operators, by the name that `npm run simulator` takes. */
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
	}
};
