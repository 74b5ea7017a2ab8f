import { airtel } from './airtel/airtel.ts';
import type { OperatorDefinition } from './definition.ts';
import { mpesa } from './mpesa/mpesa.ts';
import { mtn } from './mtn/mtn.ts';
import { pawapay } from './pawapay/pawapay.ts';

/** To add an operator, create a folder with its definition and add a line here. */
export const INSTALLED: readonly OperatorDefinition[] = [mtn, mpesa, airtel, pawapay];
