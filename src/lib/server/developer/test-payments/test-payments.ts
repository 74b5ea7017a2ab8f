import type { Base } from '#lib/server/base.ts';
import { randomInt } from 'node:crypto';
import { getExampleNumber, type CountryCode } from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';
import { binder } from '#lib/server/platform/bind.ts';
import { pollUntil } from '#lib/developer/poll-until.ts';
import type { TestOutcome } from '#lib/checkout/test-outcomes.ts';
import type { Role } from '#lib/server/contract/scopes.ts';
import type { Account as AnyAccount } from '../../accounts/accounts.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import type { Payments } from '../../billing/payments/payments.ts';
import { type Routers, listNearbyRouters } from '#lib/server/routers/routers.ts';
import type { SandboxOperator } from '../../billing/operators/sandbox.ts';
import type { Sessions } from '../../billing/sessions/sessions.ts';

interface TestPaymentsContext extends Base {
	payments: Payments;
	routers: Routers;
	sessions: Sessions;
	operator: SandboxOperator;
}

type Account = AnyAccount & { role: Role };

const MAX_PAYMENTS = 50;
const ROUTERS_WITHIN_METRES = 50_000;
const ROUTERS = 100;
/** Ending of numbers that wait for a decision (operators/sandbox/scenarios.ts). */
const WAITING_DIGITS = '003';

/** Decides sandbox payments by hand: sets the outcome at the sandbox operator, and the normal flow continues. */
export function createTestPayments(context: TestPaymentsContext) {
	const bind = binder(context);
	return { recent: bind(recent), setOutcome: bind(setOutcome), start: bind(start) };
}

/** Open payments first, then by age. */
async function recent({ payments, operator }: TestPaymentsContext, accountId: number) {
	const found = await payments.newest(accountId, MAX_PAYMENTS);
	return Promise.all(
		found.map(async ({ reference, payment }) => {
			const isStillOpen = payment.status === 'pending' || payment.status === 'expired';
			const decided = isStillOpen ? await operator.openTo(reference) : undefined;
			return {
				...payment,
				isOpen: decided !== undefined,
				/** A decision that has not taken effect yet. */
				decided: decided ?? null
			};
		})
	);
}

async function entryOf({ payments }: TestPaymentsContext, { id }: Account, paymentId: number) {
	const found = await payments.newest(id, MAX_PAYMENTS);
	return found.find(({ payment }) => payment.id === paymentId);
}

/** Returns false if the account has no such open payment. */
async function setOutcome(
	context: TestPaymentsContext,
	account: Account,
	paymentId: number,
	outcome: TestOutcome
): Promise<boolean> {
	const { payments, operator } = context;
	const entry = await entryOf(context, account, paymentId);
	if (!entry || !(await operator.instruct(entry.reference, outcome))) return false;
	// The callback has queued a status read: wait, so that the page shows the result.
	if (outcome !== 'never' && outcome !== 'late_success') {
		await pollUntil(async () => {
			const now = await payments.read(callerOf(account), paymentId);
			return now.status !== entry.payment.status;
		});
	}
	return true;
}

/** Starts a payment for one hour that waits for a decision. Returns null if no router sells time. */
async function start(context: TestPaymentsContext, account: Account): Promise<PaymentBody | null> {
	const { config, payments, routers, sessions, operator } = context;
	const caller = callerOf(account);
	const place = { ...config.centre, radius: ROUTERS_WITHIN_METRES };
	const near = await listNearbyRouters(routers, { ...place, limit: ROUTERS, after: null });
	const router = near.data.find(({ status }) => status === 'online');
	if (!router) return null;
	const phone = waitingNumber(config.defaultRegion as CountryCode);
	const order = { router_id: router.id, duration: '1h', payment_method: 'mobile_money', phone } as const;
	const session = await sessions.create(caller, order);
	const payment = { session_id: session.id, amount: session.amount, phone };
	const started = await payments.start(caller, payment, { accountId: account.id });
	await pollUntil(async () => {
		const entry = await entryOf(context, account, started.id);
		return entry === undefined || (await operator.openTo(entry.reference)) !== undefined;
	});
	return started;
}

/** Varies the number, because prompts per number are limited. */
function waitingNumber(region: CountryCode): string {
	const example = getExampleNumber(region, examples)?.number ?? '';
	const middle = String(randomInt(1000)).padStart(3, '0');
	return `${example.slice(0, -6)}${middle}${WAITING_DIGITS}`;
}

const callerOf = (account: Account): Caller => ({
	accountId: account.id,
	keyId: 0,
	role: account.role,
	scopes: null,
	plan: account.plan,
	suspended: account.status === 'suspended'
});
