/**
 * What the kiosk's screen and its server say to each other. A purchase is named by its token in request bodies
 * only: addresses are kept by browsers and in logs, and nothing of a buyer may stay behind.
 */
import type { SignInInstructions } from '../checkout/sign-in-instructions.ts';
import type { FormErrors } from '../checkout/pay-form.ts';
import type { PhoneHint } from '../checkout/phone-hint.ts';
import type { PurchaseState } from '../checkout/purchase/state.ts';
import type { QrCode } from '../format/qr.ts';
import type { PricedRouter } from '../checkout/price.ts';

export interface KioskRouter extends PricedRouter {
	id: number;
	name: string;
	address: string | null;
	ssid: string;
	payment_methods: string[];
	/** A user name is asked for, beside the password. */
	signsIn: boolean;
	/** What has to be known before paying. */
	note: string | null;
}

/** `away`: the service cannot be asked. `unknown`: the address names no router. */
export type Till =
	| { state: 'open' | 'offline'; router: KioskRouter; hint: PhoneHint }
	| { state: 'unknown' | 'away'; router: null };

/** One purchase, with all that the screens of waiting, the password and the failures show. */
export interface KioskPurchase extends Pick<
	PurchaseState,
	'kind' | 'tone' | 'title' | 'text' | 'next' | 'action' | 'polls'
> {
	token: string;
	/** Changes whenever there is something new to show. */
	watch: string;
	notes: string[];
	/** The short code that opens this purchase on any device. */
	code: string;
	money: string;
	ssid: string;
	/** How long ago the payment was asked for. */
	ageSeconds: number;
	/** Where to look for a request that does not show on the phone. */
	hint: string;
	/** Lines of the receipt. */
	lines: [string, string][];
	/** Opens the purchase's page on the buyer's own phone. */
	phoneQr: QrCode;
	/** What lets the buyer in, while the time runs; `qr` null where no code helps. */
	pass: SignInInstructions | null;
	/** Paying again: what it costs, and the number that was asked, its middle hidden. */
	again: { amount: number; money: string; duration: string; paymentMethod: string; number: string } | null;
}

/** What became of an order. `lost`: nobody knows whether it arrived. */
export type Sent = { as: 'taken'; token: string } | { as: 'refused'; errors: FormErrors } | { as: 'lost' };

/** `gone`: the service knows no such purchase. `away`: it could not be asked. */
export type Found = { as: 'found'; purchase: KioskPurchase } | { as: 'gone' } | { as: 'away' };

/** An order is seen through by the service, and that may take its time; a question is not worth it. */
const ORDER_LIMIT_MS = 45_000;
const QUESTION_LIMIT_MS = 12_000;
/** Answers of the till itself; anything else comes from something in between. */
const REFUSALS: readonly number[] = [400, 404, 409, 503];

export const asForm = (fields: Record<string, string>): FormData => {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	return form;
};

/** @param base address of the kiosk, without a slash at the end */
export function tillClient(base: string) {
	/** Not AbortSignal.timeout: tablets in kiosks are old. */
	async function call(path: string, limitMs: number, fields?: Record<string, string>) {
		const request = new AbortController();
		const limit = setTimeout(() => request.abort(), limitMs);
		try {
			const response = await fetch(`${base}/${path}`, {
				cache: 'no-store',
				signal: request.signal,
				...(fields ? { method: 'POST', body: asForm(fields) } : {})
			});
			return { ok: response.ok, status: response.status, body: (await response.json()) as unknown };
		} finally {
			clearTimeout(limit);
		}
	}

	async function send(path: string, fields: Record<string, string>): Promise<Sent> {
		try {
			const answer = await call(path, ORDER_LIMIT_MS, fields);
			const { token, errors } = answer.body as { token?: string; errors?: FormErrors };
			if (answer.ok && token) return { as: 'taken', token };
			if (REFUSALS.includes(answer.status) && errors) return { as: 'refused', errors };
		} catch {
			// No answer, or not ours: the order may have arrived all the same.
		}
		return { as: 'lost' };
	}

	return {
		/** What can be bought now, and a token for it; null when there is no connection. */
		async look(): Promise<{ till: Till; purchase: string } | null> {
			try {
				const { ok, body } = await call('till', QUESTION_LIMIT_MS);
				return ok ? (body as { till: Till; purchase: string }) : null;
			} catch {
				return null;
			}
		},
		/** @param fields those of pay-form.ts */
		buy: (fields: Record<string, string>) => send('buy', fields),
		payAgain: (fields: Record<string, string>) => send('again', fields),
		async find(token: string): Promise<Found> {
			try {
				const { ok, status, body } = await call('purchase', QUESTION_LIMIT_MS, { token });
				if (status === 404) return { as: 'gone' };
				if (ok) return { as: 'found', purchase: body as KioskPurchase };
			} catch {
				// Asked again.
			}
			return { as: 'away' };
		}
	};
}
