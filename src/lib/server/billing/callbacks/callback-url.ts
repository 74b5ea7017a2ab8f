import { equalSecrets, hmac } from '#lib/server/platform/secrets.ts';
import type { PaymentsContext } from '../payments/context.ts';

/**
 * Callback addresses: one per payment and refund, or one per operator that takes the address in its portal.
 * The token is derived from the secret: nobody can guess it, and it needs no column.
 */
type AddressContext = Pick<PaymentsContext, 'secrets' | 'config'>;

/** Hex: base64url could spell words that Daraja asks to avoid in addresses (`exe`, `sql`). */
const token = ({ secrets }: AddressContext, subject: string): string =>
	Buffer.from(hmac(secrets.derive('callback', 32), subject), 'base64url').toString('hex');

/** Token subject for all payments of an operator; no reference has this form. */
const ofOperator = (operator: string) => `operator:${operator}`;

export const callbackUrl = (context: AddressContext, operator: string, reference: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${reference}/${token(context, reference)}`;

/** Returns the address to enter in an operator's portal. */
export const portalCallbackUrl = (context: AddressContext, operator: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${token(context, ofOperator(operator))}`;

/** Checks that Airtill issued an address. A null `reference` means the operator's portal address. */
export const isOurs = (
	context: AddressContext,
	address: { operator: string; reference: string | null; token: string }
): boolean => equalSecrets(address.token, token(context, address.reference ?? ofOperator(address.operator)));
