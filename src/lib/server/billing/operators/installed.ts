import { airtel } from './airtel/airtel.ts';
import type { OperatorDefinition } from './definition.ts';
import { mpesa } from './mpesa/mpesa.ts';
import { mtn } from './mtn/mtn.ts';
import { pawapay } from './pawapay/pawapay.ts';

/** The operators that this program can talk to: a new one is a file of this folder and a line here. */
export const INSTALLED: readonly OperatorDefinition[] = [mtn, mpesa, airtel, pawapay];
