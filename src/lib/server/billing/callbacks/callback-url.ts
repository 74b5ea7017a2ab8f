import { equalSecrets, hmac } from '#lib/server/platform/secrets.ts';
import type { PaymentsContext } from '../payments/context.ts';

/**
 * Callback addresses for operators: one for each payment and refund, or one for all payments of an operator that takes
 * the address in its portal instead of with the request. The token at the end is derived from the secret, so it cannot
 * be guessed and needs no column.
 */
type AddressContext = Pick<PaymentsContext, 'secrets' | 'config'>;

/** Hex: base64url could spell words that an operator does not want in an address (Daraja: `exe`, `sql`). */
const token = ({ secrets }: AddressContext, subject: string): string =>
	Buffer.from(hmac(secrets.derive('callback', 32), subject), 'base64url').toString('hex');

/** Stands for all payments of an operator. None of our references can look like this. */
const ofOperator = (operator: string) => `operator:${operator}`;

/** @param reference of the payment or refund */
export const callbackUrl = (context: AddressContext, operator: string, reference: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${reference}/${token(context, reference)}`;

/** Returns the address to enter in an operator's portal. */
export const portalCallbackUrl = (context: AddressContext, operator: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${token(context, ofOperator(operator))}`;

/** Tells whether Airtill issued an address. @param reference null for the address of all an operator's payments */
export const isOurs = (
	context: AddressContext,
	address: { operator: string; reference: string | null; token: string }
): boolean => equalSecrets(address.token, token(context, address.reference ?? ofOperator(address.operator)));
