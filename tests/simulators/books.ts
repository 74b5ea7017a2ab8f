import { ORDINARY, type Script } from './script.ts';

/** A payment as the operator's own books have it. */
export interface SimulatedPayment {
	/** Counts from 1; what the operator's own ids are made of. */
	number: number;
	/** The client's reference, where the protocol has one. */
	reference: string | null;
	/** The id that the operator gave. */
	operatorReference: string;
	/** Digits with the country code, without `+`. */
	phone: string;
	/** In major units. */
	amount: number;
	currency: string;
	callbackUrl: string | null;
	/** The fields of the request that the protocol repeats later. */
	request: Record<string, unknown>;
	queuedAt: number;
	script: Script;
	reads: number;
	/** Set by hand (`settle`); wins over the script. */
	decided: { outcome: string; at: number } | null;
}

export interface SimulatedRefund {
	reference: string;
	paymentNumber: number;
	amount: number;
	currency: string;
	queuedAt: number;
	outcome: string;
	afterMs: number;
}

/** Money that the merchant sends to somebody. */
export interface SimulatedPayout {
	reference: string;
	/** Digits with the country code, without `+`. */
	phone: string;
	amount: number;
	currency: string;
	/** The fields of the request that the protocol repeats later. */
	request: Record<string, unknown>;
	queuedAt: number;
	script: Script;
	reads: number;
}

export interface Ledger {
	/** Money taken from payers, in major units, and how many payments took it. */
	debited: number;
	payments: number;
	refunded: number;
	refunds: number;
}

/** Condition of a rule: all given fields must match. The newest matching rule wins. */
export interface Match {
	/** End of the number. */
	phone?: string;
	reference?: string;
	/** Only that many payments, then the rule is used up. */
	times?: number;
}

export class Books {
	readonly payments: SimulatedPayment[] = [];
	readonly refunds: SimulatedRefund[] = [];
	readonly payouts: SimulatedPayout[] = [];
	private readonly rules: { match: Match; script: Partial<Script>; left: number }[] = [];
	private offsetMs = 0;
	private readonly defaults: (phone: string) => Partial<Script>;

	/** @param defaults the operator's own test numbers */
	constructor(defaults: (phone: string) => Partial<Script>) {
		this.defaults = defaults;
	}

	now(): number {
		return Date.now() + this.offsetMs;
	}

	advance(ms: number): void {
		this.offsetMs += ms;
	}

	script(match: Match, script: Partial<Script>): void {
		this.rules.push({ match, script, left: match.times ?? Infinity });
	}

	/** The script for a new payment; uses a counted rule up. */
	scriptFor(phone: string, reference: string | null): Script {
		const rule = this.rules.findLast(
			({ match, left }) =>
				left > 0 &&
				(match.phone === undefined || phone.endsWith(match.phone)) &&
				(match.reference === undefined || match.reference === reference)
		);
		if (rule) rule.left -= 1;
		return { ...ORDINARY, ...this.defaults(phone), ...rule?.script };
	}

	byReference(reference: string): SimulatedPayment | undefined {
		return this.payments.find((payment) => payment.reference === reference);
	}

	byOperatorReference(reference: string): SimulatedPayment | undefined {
		return this.payments.find((payment) => payment.operatorReference === reference);
	}

	add(payment: Omit<SimulatedPayment, 'number' | 'queuedAt' | 'reads' | 'decided'>): SimulatedPayment {
		const added = {
			...payment,
			number: this.payments.length + 1,
			queuedAt: this.now(),
			reads: 0,
			decided: null
		};
		this.payments.push(added);
		return added;
	}

	/** Current state: `success`, `pending` or the operator's code. */
	outcomeOf(payment: SimulatedPayment): string {
		if (payment.decided && payment.decided.at <= this.now()) return payment.decided.outcome;
		return this.now() >= payment.queuedAt + payment.script.afterMs ? payment.script.outcome : 'pending';
	}

	/** When the outcome was or will be there; null when never. */
	outcomeAt(payment: SimulatedPayment): number | null {
		if (payment.decided) return payment.decided.at;
		return payment.script.outcome === 'pending' ? null : payment.queuedAt + payment.script.afterMs;
	}

	/** Amount taken from the payer, in major units. */
	takenOf(payment: SimulatedPayment): number {
		return this.outcomeOf(payment) === 'success' ? payment.amount * payment.script.amountFactor : 0;
	}

	/** The payer decides now. @returns false when it was decided before */
	settle(payment: SimulatedPayment, outcome: string): boolean {
		if (this.outcomeOf(payment) !== 'pending') return false;
		payment.decided = { outcome, at: this.now() };
		return true;
	}

	refundOutcome(refund: SimulatedRefund): string {
		return this.now() >= refund.queuedAt + refund.afterMs ? refund.outcome : 'pending';
	}

	payoutOf(reference: string): SimulatedPayout | undefined {
		return this.payouts.find((payout) => payout.reference === reference.toLowerCase());
	}

	payoutOutcome({ queuedAt, script }: SimulatedPayout): string {
		return this.now() >= queuedAt + script.afterMs ? script.outcome : 'pending';
	}

	ledger(): Ledger {
		const taken = this.payments.map((payment) => this.takenOf(payment)).filter((amount) => amount > 0);
		const back = this.refunds.filter((refund) => this.refundOutcome(refund) === 'success');
		const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
		return {
			debited: sum(taken),
			payments: taken.length,
			refunded: sum(back.map(({ amount }) => amount)),
			refunds: back.length
		};
	}
}
