/** Facts about simulated operators that the torture needs beside their protocol. */
import { OPERATORS as FACTS, type OperatorFacts, PROTOCOLS } from '../simulators/protocols.ts';
import type { Protocol, Simulator } from '../simulators/simulator.ts';
import type { CallbackScript } from '../simulators/script.ts';
import { portalAddress } from '../support/billing/portal-address.ts';
import type { TestServer } from '../support/server/server.ts';

export interface TorturedOperator {
	/** The id of our adapter. */
	id: string;
	protocol: () => Protocol;
	/** The payment method that it carries. */
	method: string;
	/** The number of a payer who has none of the operator's test numbers, E.164; every `index` below a million another one. */
	phone: (index: number) => string;
	/** Ways in which a payment or refund ends without money, in the operator's code. */
	failures: readonly string[];
	/** Refusals of a submit, in the operator's code: nothing is queued. */
	refusals: readonly string[];
	/** It always says what it took, so that another amount than was asked for can be noticed. */
	alwaysTellsAmount: boolean;
	/** It takes no reference of ours: where its answer is lost, only a callback or a person can tell what became of it. */
	blind: boolean;
	/** Lies in callbacks that can be seen through. */
	lies: readonly CallbackScript['alter'][];
	/** Enters our callback address where the operator takes it from. */
	enterAddress: (simulator: Simulator, server: TestServer) => Promise<void>;
}

const LIES = ['forged_success', 'wrong_id', 'bad_signature', 'no_signature', 'garbage'] as const;

const DETAILS: Readonly<
	Record<string, Partial<TorturedOperator> & Pick<TorturedOperator, 'refusals' | 'alwaysTellsAmount'>>
> = {
	mtn: {
		refusals: ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'PAYER_NOT_FOUND'],
		alwaysTellsAmount: true,
		lies: [...LIES, 'wrong_amount']
	},
	// The amount is known from the callback alone, which may be lost; and what it says is all that there is.
	mpesa: { refusals: ['400.002.02'], alwaysTellsAmount: false, blind: true },
	airtel: { refusals: ['ESB000033', 'ROUTER001'], alwaysTellsAmount: false },
	pawapay: { refusals: ['PAYER_NOT_FOUND'], alwaysTellsAmount: true, lies: [...LIES, 'wrong_amount'] }
};

function tortured(facts: OperatorFacts): TorturedOperator {
	const details = DETAILS[facts.name];
	const make = PROTOCOLS[facts.name];
	if (!details || !make) throw new Error(`Nothing is known of ${facts.name}`);
	return {
		id: facts.id,
		protocol: () => make(facts.options),
		method: facts.method,
		phone: (index) => facts.phone + String(index).padStart(6, '0'),
		failures: Object.values(facts.codes),
		blind: false,
		lies: LIES,
		async enterAddress(simulator, server) {
			if (facts.hasPortal) simulator.portal({ callback_url: await portalAddress(server, facts.id) });
		},
		...details
	};
}

export const OPERATORS: Readonly<Record<string, TorturedOperator>> = Object.fromEntries(
	FACTS.map((facts) => [facts.name, tortured(facts)])
);
