import { airtelProtocol } from './airtel.ts';
import type { Protocol } from './frame.ts';

/** The simulated operators, by the name that `npm run simulator` takes. */
export const PROTOCOLS: Readonly<Record<string, () => Protocol>> = {
	airtel: () => airtelProtocol()
};
