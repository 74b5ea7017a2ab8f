/** Validates payments as Airtel's gateway and product do. */
import { MARKETS, type AirtelPortal } from './portal.ts';

export const object = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Code of what is wrong with a number; null when it is good. */
export function wrongNumber(settings: AirtelPortal, msisdn: string): string | null {
	const digits = MARKETS[settings.country]?.digits ?? 9;
	if (settings.leading_zero === 'on') {
		return /^0\d+$/.test(msisdn) && msisdn.length === digits + 1 ? null : 'ESB000036';
	}
	// The numbers of Congo begin with 0 by themselves.
	const isNational = new RegExp(settings.country === 'CG' ? '^0\\d+$' : '^[1-9]\\d*$').test(msisdn);
	return isNational && msisdn.length === digits ? null : 'ESB000033';
}

/** Code of what is wrong with a payment's body; null when it is good. */
export function wrongPayment(settings: AirtelPortal, body: Record<string, unknown>): string | null {
	const subscriber = object(body['subscriber']);
	const transaction = object(body['transaction']);
	const { amount, id } = transaction;
	if (subscriber['msisdn'] === undefined || amount === undefined || id === undefined) return 'ROUTER003';
	if (typeof body['reference'] !== 'string' || body['reference'].trim() === '') return 'ROUTER003';
	if (typeof amount !== 'number' || amount <= 0) return 'ESB000008';
	const pattern = settings.short_ids === 'on' ? /^[A-Za-z0-9]{1,25}$/ : /^[A-Za-z0-9_-]{1,64}$/;
	if (typeof id !== 'string' || !pattern.test(id)) return 'ESB000008';
	for (const part of [subscriber, transaction]) {
		if (![undefined, settings.country].includes(part['country'] as string | undefined)) return 'ESB000034';
		if (![undefined, settings.currency].includes(part['currency'] as string | undefined)) return 'ESB000035';
	}
	const { msisdn } = subscriber;
	if (typeof msisdn !== 'string' && typeof msisdn !== 'number') return 'ESB000008';
	return wrongNumber(settings, String(msisdn));
}
