/** Purchase tokens travel in request bodies only: browsers and logs keep addresses. */
import type { SignInInstructions } from '../purchase/sign-in.ts';
import type { FormErrors, PayAgain } from '../purchase/pay-form.ts';
import type { PhoneHint } from '../purchase/phone-hint.ts';
import type { PurchaseState, Waits } from '../purchase/state.ts';
import type { PricedRouter } from '../purchase/quote.ts';

export interface KioskRouter extends PricedRouter {
	id: number;
	name: string;
	address: string | null;
	ssid: string;
	payment_methods: string[];
	/** The sign-in also needs a username. */
	signsIn: boolean;
	/** A warning before the payment. */
	note: string | null;
}

/** Whether the kiosk can sell. `closed`: by the owner. `away`: the service is unavailable. `unknown`: no router has this id. */
export type Availability =
	| { state: 'open' | 'offline'; router: KioskRouter; hint: PhoneHint }
	| { state: 'closed'; router: KioskRouter; hint: PhoneHint; text: string }
	| { state: 'unknown' | 'away'; router: null };

export interface KioskPurchase extends PurchaseState {
	token: string;
	/** Changes whenever there is something new to show. */
	watch: string;
	notes: string[];
	/** The short code that opens this purchase on any device. */
	code: string;
	money: string;
	/** null before a payment. */
	waits: Waits | null;
	phoneQr: string;
	/** "12.4 GB of 20 GB left"; null without a data limit. */
	data: string | null;
	/** null unless the time is running. */
	pass: SignInInstructions | null;
	/** The code by SMS to the number that paid; null if the installation sends none. */
	sms: CodeBySms | null;
	/** To pay again; null if that is not possible. */
	again: PayAgain | null;
}

interface CodeBySms {
	/** Label of the button; null if it was sent. */
	ask: string | null;
	/** The result of the last request. */
	text: string | null;
	/** Until the result may have changed; null if it is final. */
	refreshSeconds: number | null;
}

/**
 * Result of an order. `refused` with `another`: an earlier order of the number must be confirmed with it. `lost`: it may have
 * arrived.
 */
export type Sent =
	| { as: 'taken'; token: string }
	| { as: 'refused'; errors: FormErrors; another?: string | undefined }
	| { as: 'lost' };

/** `gone`: the purchase does not exist. `away`: the service is unavailable. */
export type Found = KioskPurchase | 'gone' | 'away';

export type KioskClient = ReturnType<typeof createKioskClient>;

/** Longer than for reads: an order may take long, and a read can simply be repeated. */
const ORDER_LIMIT_MS = 45_000;
const READ_LIMIT_MS = 12_000;
/** Statuses of our own server; others come from a proxy. */
const REFUSALS: readonly number[] = [400, 404, 409, 429, 503];

export const asForm = (fields: Record<string, string>): FormData => {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	return form;
};

/** Makes the token of a purchase (platform/ids.ts has its form): 144 random bits. */
export const newToken = (): string =>
	btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))))
		.replace(/\+/g, '-')
		.replace(/\//g, '_');

/** @param base address of the kiosk, without a slash at the end */
export function createKioskClient(base: string) {
	/** Returns null without a response of the service. Old tablets lack AbortSignal.timeout. */
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
		} catch {
			return null;
		} finally {
			clearTimeout(limit);
		}
	}

	async function send(path: string, fields: Record<string, string>): Promise<Sent> {
		const answer = await call(path, ORDER_LIMIT_MS, fields);
		const { token, errors, another } = (answer?.body ?? {}) as {
			token?: string;
			errors?: FormErrors;
			another?: string;
		};
		if (answer?.ok && token) return { as: 'taken', token };
		if (answer && REFUSALS.includes(answer.status) && errors) return { as: 'refused', errors, another };
		// No response, or a proxy's: the order may have arrived.
		return { as: 'lost' };
	}

	async function read(fields: Record<string, string>): Promise<Found> {
		const answer = await call('purchase', READ_LIMIT_MS, fields);
		if (answer?.status === 404) return 'gone';
		return answer?.ok ? (answer.body as KioskPurchase) : 'away';
	}

	return {
		statusUrl: `${base}/status`,
		/** Returns null without a connection, or for the answer of another version. */
		async look(): Promise<Availability | null> {
			const answer = await call('availability', READ_LIMIT_MS);
			const body = answer?.ok ? (answer.body as { availability?: Availability } | null) : null;
			return body?.availability ?? null;
		},
		/** @param fields of checkout/pay-form.ts */
		buy: (fields: Record<string, string>) => send('buy', fields),
		payAgain: (fields: Record<string, string>) => send('again', fields),
		find: (token: string) => read({ token }),
		sendCode: (token: string) => read({ token, sms: '1' })
	};
}
