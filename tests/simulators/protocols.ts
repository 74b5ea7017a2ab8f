import type { Protocol } from './frame.ts';
import { pawapay } from './pawapay.ts';

/** The simulated operators, by the name that `npm run simulator` takes. */
export const PROTOCOLS: Readonly<Record<string, () => Protocol>> = { pawapay };
