import { gzipSync } from 'node:zlib';

/**
 * The course of a payment at a simulated operator, in the same terms for every operator, so that one test can run
 * against all of them. Whatever a script leaves out is as an operator on a good day does it.
 */
export interface Script {
	/** `success`, `pending` (for ever) or a failure in the operator's own code, e.g. `NOT_ENOUGH_FUNDS`, `1032`. */
	outcome: string;
	/** Milliseconds from being queued to the outcome. */
	afterMs: number;
	/** Fault of the request that starts the payment. */
	submit:
		| 'accept'
		/** The connection breaks before anything is queued, or after. */
		| 'drop_before'
		| 'drop_after'
		/** Queued at once, answered after `slowMs`. */
		| 'slow'
		/** Not queued: HTTP 500 and the operator's error body; queued all the same: `error_after`. */
		| 'error_before'
		| 'error_after'
		/** Queued, but the answer is an HTML page of some gateway. */
		| 'not_json'
		/** Not queued: 429, or the operator's own form of it. */
		| 'rate_limited'
		/** Not queued: a refusal in the operator's own code, `submitCode`. */
		| 'refuse';
	submitCode: string;
	slowMs: number;
	/** That many status reads do not know the payment yet; that many fail with HTTP 500; then all is well. */
	notFoundReads: number;
	failedReads: number;
	/** Share of the amount that is taken in truth; 1 is what was asked for. */
	amountFactor: number;
	/** The status read says failed although the money was taken and the callback says so. */
	contradicts: boolean;
	/** When the operator calls back; several are sent in this order, an empty list means never. */
	callbacks: readonly CallbackScript[];
	/** Operators that write the same thing in two ways use the other one, e.g. `reason` as an object. */
	otherForm: boolean;
	/** An operator that sends results of queries (Daraja) sends nothing that could be read. */
	unreadableResults: boolean;
	/** Operators that protect a payer from being asked twice do so, e.g. Daraja's subscriber lock and its code 17. */
	guards: boolean;
	/** Course of this payment's refunds; default: refunded at once. */
	refund: Partial<RefundScript>;
}

export type RefundScript = Pick<
	Script,
	'outcome' | 'afterMs' | 'submit' | 'submitCode' | 'slowMs' | 'notFoundReads' | 'failedReads' | 'callbacks'
>;

export interface CallbackScript {
	when: 'before_answer' | 'at_outcome';
	/** Milliseconds after that. */
	afterMs: number;
	times: number;
	/** Only for operators with both. */
	method?: 'POST' | 'PUT';
	/** What a proxy or a form makes of the body. */
	as?: keyof typeof WRITTEN;
	/**
	 * `forged_success`: reports success although no money was taken; `wrong_amount`, `wrong_id`: as named;
	 * `bad_signature`, `no_signature`: as named, where the operator signs; `garbage`: no JSON at all.
	 */
	alter?: 'forged_success' | 'wrong_amount' | 'wrong_id' | 'bad_signature' | 'no_signature' | 'garbage';
}

/** Ways of sending a body that mean the same; what its text may look like: tests/unit/billing/bodies.test.ts. */
export const WRITTEN = {
	field: (body: string) => `data=${encodeURIComponent(body)}`,
	utf16: (body: string) => Buffer.from(`\ufeff${body}`, 'utf16le'),
	gzip: (body: string) => gzipSync(body)
} satisfies Record<string, (body: string) => BodyInit>;

export const ORDINARY: Script = {
	outcome: 'success',
	afterMs: 1_000,
	submit: 'accept',
	submitCode: '',
	slowMs: 40_000,
	notFoundReads: 0,
	failedReads: 0,
	amountFactor: 1,
	contradicts: false,
	callbacks: [{ when: 'at_outcome', afterMs: 0, times: 1 }],
	otherForm: false,
	unreadableResults: false,
	guards: true,
	refund: {}
};
