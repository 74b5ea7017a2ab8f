import { equalSecrets, hmac } from '#lib/server/platform/secrets.ts';
import type { BillingContext } from '../context.ts';

/**
 * Callback addresses: one per payment and refund, or one per operator that takes the address in its portal.
 * The token is derived from the secret: nobody can guess it, and it needs no column.
 */
type AddressContext = Pick<BillingContext, 'secrets' | 'config'>;

/** Hex: base64url could spell words that Daraja asks to avoid in addresses (`exe`, `sql`). */
const tokenWith = (key: Buffer, subject: string): string =>
	Buffer.from(hmac(key, subject), 'base64url').toString('hex');

const token = ({ secrets }: AddressContext, subject: string): string =>
	tokenWith(secrets.derive('callback', 32), subject);

/** Token subject for all payments of an operator; no reference has this form. */
const ofOperator = (operator: string) => `operator:${operator}`;

export const callbackUrl = (context: AddressContext, operator: string, reference: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${reference}/${token(context, reference)}`;

export const portalCallbackUrl = (context: AddressContext, operator: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${token(context, ofOperator(operator))}`;

/** Checks that Airtill issued an address. A null `reference` means the operator's portal address. */
export const isOurs = (
	{ secrets }: AddressContext,
	{ operator, reference, token: given }: { operator: string; reference: string | null; token: string }
): boolean =>
	secrets
		.deriveAll('callback', 32)
		.some((key) => equalSecrets(given, tokenWith(key, reference ?? ofOperator(operator))));
