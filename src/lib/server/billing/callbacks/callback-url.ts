import { equalSecrets, hmac } from '#lib/server/platform/secrets.ts';
import type { PaymentsContext } from '../payments/context.ts';

/**
 * The addresses that operators call. One is made for each payment and refund; an operator that takes no address with
 * the request gets one for all, which is entered in its portal. Their last part is derived from the secret, so that it
 * can be neither guessed nor lost, and needs no column.
 */
type AddressContext = Pick<PaymentsContext, 'secrets' | 'config'>;

/** Hex: base64url could spell words that an operator does not want in an address (Daraja: `exe`, `sql`). */
const token = ({ secrets }: AddressContext, subject: string): string =>
	Buffer.from(hmac(secrets.derive('callback', 32), subject), 'base64url').toString('hex');

/** For all of an operator's payments. No reference of ours can look like this. */
const ofOperator = (operator: string) => `operator:${operator}`;

/** @param reference of the payment or refund */
export const callbackUrl = (context: AddressContext, operator: string, reference: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${reference}/${token(context, reference)}`;

/** The address to enter in an operator's portal. */
export const portalCallbackUrl = (context: AddressContext, operator: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${token(context, ofOperator(operator))}`;

/** Whether we made an address. @param reference null: the one for all of an operator's payments */
export const isOurs = (
	context: AddressContext,
	address: { operator: string; reference: string | null; token: string }
): boolean => equalSecrets(address.token, token(context, address.reference ?? ofOperator(address.operator)));
