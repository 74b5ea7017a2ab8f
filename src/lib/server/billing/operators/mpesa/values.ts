import type { KeyObject } from 'node:crypto';

/** Parsed settings of M-Pesa Express (mpesa.ts). */
export interface MpesaValues {
	MPESA_BASE_URL: string;
	MPESA_CONSUMER_KEY: string;
	MPESA_CONSUMER_SECRET: string;
	MPESA_SHORTCODE: string;
	MPESA_PASSKEY: string;
	MPESA_TILL?: string | undefined;
	MPESA_PULL: 'on' | 'off';
	MPESA_INITIATOR?: string | undefined;
	MPESA_SECURITY_CREDENTIAL?: string | undefined;
	MPESA_INITIATOR_PASSWORD?: string | undefined;
	MPESA_CERTIFICATE_FILE?: KeyObject | undefined;
}

/** Daraja supports only this country and currency. */
export const MPESA_CURRENCY = 'KES';
