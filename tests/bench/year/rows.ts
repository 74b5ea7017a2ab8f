import type { Insertable } from 'kysely';
import { MAX_DURATION, MIN_DURATION } from '../../../src/lib/domain/time.ts';
import type { RoutersTable, Schema } from '../../../src/lib/server/db/schema.ts';
import { sha256 } from '../../../src/lib/server/platform/secrets.ts';
import { createRandom, PACKAGES, type Sale } from './trade.ts';

/** Values that all rows of a year share. */
export interface YearFacts {
	ownerId: number;
	buyerId: number;
	currency: string;
	paymentMethods: readonly string[];
	commissionBasisPoints: number;
	now: number;
}

const CENTRE = { lat: 0.3476, lon: 32.5825 };
const SPREAD_DEGREES = 0.6;
const HOURLY_MINOR = 500;
const HOUR_SECONDS = 3_600;
const KINDS = ['Café', 'Hostel', 'Market', 'Salon', 'Lodge', 'Kiosk', 'Library', 'Canteen'];
const STREETS = ['Acacia', 'Lake', 'Station', 'Hill', 'Mango', 'Mosque', 'Bridge', 'Old Port', 'Stadium'];
/** Of the buyers of the year. */
const NUMBERS = 40_000;

const PAID_AFTER_MS = 20_000;
const REFUNDED_AFTER_MS = 6 * 60 * 60 * 1000;
const DUE_AFTER_MS = 10 * 60 * 1000;

export function routerRows(count: number, facts: YearFacts): Insertable<RoutersTable>[] {
	const random = createRandom(1);
	const near = (middle: number) => middle + (random() * 2 - 1) * SPREAD_DEGREES;
	const offers = JSON.stringify(PACKAGES, ['id', 'name', 'duration', 'price_minor', 'active']);
	return Array.from({ length: count }, (_, index) => {
		const street = STREETS[Math.floor(random() * STREETS.length)] ?? '';
		const name = `${street} ${KINDS[Math.floor(random() * KINDS.length)] ?? ''} ${index + 1}`;
		return {
			...{ owner_account_id: facts.ownerId, external_id: `year-${index + 1}` },
			...{ name, address: `${street} Road`, ssid: name, security: 'wpa', status: 'online' },
			...{ lat: near(CENTRE.lat), lon: near(CENTRE.lon) },
			...{ price_minor: HOURLY_MINOR, currency: facts.currency, offers, last_offer_id: PACKAGES.length },
			...{ payment_methods: JSON.stringify(facts.paymentMethods) },
			...{ min_duration: MIN_DURATION, max_duration: MAX_DURATION },
			...{ created_at: facts.now, updated_at: facts.now, access_confirmed_at: facts.now }
		};
	});
}

/** The rows of a sale, without the ids that the database gives. */
export function rowsOf(sale: Sale, index: number, routerId: number, facts: YearFacts) {
	const offer = sale.offer === null ? null : (PACKAGES[sale.offer] ?? null);
	const hours = 1 + Math.floor(sale.chance * 4);
	const duration = offer?.duration ?? `${hours}h`;
	const seconds = offer?.seconds ?? hours * HOUR_SECONDS;
	const methods = facts.paymentMethods;
	const common = {
		account_id: facts.buyerId,
		payment_method: methods[Math.floor(sale.chance * 7) % methods.length] ?? 'mobile_money',
		phone: `+25677${String(1_000_000 + Math.floor(sale.chance * NUMBERS)).padStart(7, '0')}`,
		amount_minor: offer?.price_minor ?? hours * HOURLY_MINOR,
		currency: facts.currency,
		created_at: sale.at,
		updated_at: sale.at
	};
	const paidAt = Math.min(facts.now, sale.at + PAID_AFTER_MS);
	const isPaid = sale.outcome !== 'failed';
	const endsAt = paidAt + seconds * 1000;
	const refundedAt = sale.outcome === 'refunded' ? Math.min(facts.now, paidAt + REFUNDED_AFTER_MS) : null;
	const reference = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
	return {
		isRunning: sale.outcome === 'paid' && endsAt > facts.now,
		session: {
			...{ ...common, router_id: routerId, duration, duration_seconds: seconds, ssid: 'Wi-Fi' },
			...{ offer_id: offer?.id ?? null, offer_name: offer?.name ?? null },
			...{ payment_due_at: sale.at + DUE_AFTER_MS },
			...stateOf(sale, { paidAt, endsAt, refundedAt, now: facts.now })
		},
		pass: {
			...{ router_id: routerId, access_kind: 'wpa_personal_per_client' as const, max_devices: 1 },
			...{ starts_at: paidAt, ends_at: endsAt, activating_until: null },
			...{ password_sealed: null, password_session_id: null, created_at: paidAt, updated_at: paidAt }
		},
		payment: {
			...{
				...common,
				operator: 'sandbox',
				reference,
				submitted_at: sale.at,
				submit_state: 'accepted' as const
			},
			...{ applied: isPaid ? 1 : 0, commission_basis_points: facts.commissionBasisPoints },
			...({ status: isPaid ? (refundedAt === null ? 'success' : 'refunded') : 'failed' } as const),
			...{ failure_code: isPaid ? null : 'insufficient_funds' },
			...{
				provider_reference: isPaid ? `Y${index}` : null,
				refund_reason: refundedAt === null ? null : 'provisioning_failed'
			},
			...{ expires_at: sale.at + DUE_AFTER_MS, paid_at: isPaid ? paidAt : null, refunded_at: refundedAt }
		},
		purchase: {
			...{ token_hash: sha256(`year ${index}`), router_id: routerId, duration, offer_id: offer?.id ?? null },
			...{ payment_method: common.payment_method, phone: common.phone, amount_minor: common.amount_minor },
			...{ currency: facts.currency, created_at: sale.at, updated_at: sale.at }
		}
	};
}

type Times = { paidAt: number; endsAt: number; refundedAt: number | null; now: number };

/** A running session is `activating` until it has its pass. */
function stateOf({ outcome, at }: Sale, { paidAt, endsAt, refundedAt, now }: Times) {
	if (outcome === 'failed') {
		const endedAt = Math.min(now, at + DUE_AFTER_MS);
		return { status: 'cancelled', status_reason: 'client_cancelled', ended_at: endedAt } as const;
	}
	if (refundedAt !== null) {
		return { status: 'cancelled', status_reason: 'provisioning_failed', ended_at: refundedAt } as const;
	}
	const time = { starts_at: paidAt, expires_at: endsAt };
	return endsAt > now
		? ({ ...time, status: 'activating', ended_at: null } as const)
		: ({ ...time, status: 'expired', ended_at: endsAt } as const);
}

export const auditRow = (paymentId: number, at: number): Insertable<Schema['audit_log']> => ({
	...{ at, actor: 'reconciler', action: 'payment.success', payment_id: paymentId, refund_id: null },
	...{ reason: 'the operator says that the payer paid', before: '{}', after: '{"status":"success"}' }
});

export const refundRow = (
	payment: ReturnType<typeof rowsOf>['payment'],
	paymentId: number
): Insertable<Schema['refunds']> => ({
	...{ payment_id: paymentId, reference: `${payment.reference}-refund`, reason: 'provisioning_failed' },
	...{ amount_minor: payment.amount_minor, currency: payment.currency, status: 'succeeded' },
	...{ submit_state: 'accepted', created_at: payment.refunded_at ?? 0, updated_at: payment.refunded_at ?? 0 }
});
