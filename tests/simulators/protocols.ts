import type { Protocol } from './frame.ts';
import { mtn } from './mtn.ts';
import type { ProtocolOptions } from './options.ts';

/** The simulated operators, by the name that `npm run simulator` takes. */
export const PROTOCOLS: Readonly<Record<string, (options: ProtocolOptions) => Protocol>> = {
	mtn
};
