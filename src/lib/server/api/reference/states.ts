import type { Machine, Transition } from '#lib/developer/reference.ts';
import type { ApiDocument } from './document.ts';

/**
 * The state machines of the reference. Which states there are is read from the document; where they stand in the
 * picture and what leads from one to the next is laid by hand here, and a state without a place is an error.
 */

interface Layout {
	id: string;
	title: string;
	schema: string;
	height: number;
	places: Readonly<Record<string, readonly [x: number, y: number]>>;
	/** What each state means stands in the description of the schema; this names those that lead nowhere. */
	transitions: readonly Transition[];
	/** In the order of the transitions; those that share an arrow share an entry. */
	arrows: readonly { of: readonly number[]; d: string; x: number; y: number }[];
}

/** Columns of the picture. */
const LEFT = 8;
const RIGHT = 192;

const SESSION: Layout = {
	id: 'session',
	title: 'Session',
	schema: 'SessionStatus',
	height: 392,
	places: {
		pending_payment: [LEFT, 40],
		cancelled: [RIGHT, 40],
		activating: [RIGHT, 146],
		active: [LEFT, 236],
		expired: [LEFT, 344],
		ended: [RIGHT, 344]
	},
	transitions: [
		{ from: null, to: 'pending_payment', trigger: '`POST /v1/sessions`', event: 'session.created' },
		{
			from: 'pending_payment',
			to: 'active',
			trigger:
				'The payment succeeded; the time runs from now, or from the end of the pass that it lengthens.',
			event: 'session.activated'
		},
		{
			from: 'pending_payment',
			to: 'activating',
			trigger: 'The payment succeeded, and the router confirms later.'
		},
		{ from: 'activating', to: 'active', trigger: 'The router is ready.', event: 'session.activated' },
		{
			from: 'activating',
			to: 'cancelled',
			trigger: 'The router was not ready within 10 minutes; the money goes back.',
			reason: 'provisioning_failed',
			event: 'session.cancelled'
		},
		{
			from: 'pending_payment',
			to: 'cancelled',
			trigger: '`DELETE /v1/sessions/{id}`',
			reason: 'client_cancelled',
			event: 'session.cancelled'
		},
		{
			from: 'pending_payment',
			to: 'cancelled',
			trigger: '`payment_due_at` is past and no payment is pending.',
			reason: 'payment_timeout',
			event: 'session.cancelled'
		},
		{
			from: 'cancelled',
			to: 'active',
			trigger:
				'Only after `payment_timeout`: the payment was confirmed late, but soon enough, and the router is online.',
			event: 'session.activated'
		},
		{ from: 'active', to: 'expired', trigger: '`expires_at` is reached.', event: 'session.expired' },
		{
			from: 'active',
			to: 'ended',
			trigger: '`DELETE /v1/sessions/{id}` by the buyer or an administrator, or a full refund.',
			reason: 'client_ended, admin_ended or refunded',
			event: 'session.ended'
		},
		{
			from: 'active',
			to: 'cancelled',
			trigger:
				'Only added time: the router could not be told of it within 10 minutes from its start (until it is nearly over, where the operator sends no money back); the money goes back.',
			reason: 'provisioning_failed',
			event: 'session.cancelled'
		}
	],
	arrows: [
		{ of: [1], d: 'M83 18V38', x: 98, y: 31 },
		{ of: [2], d: 'M50 80V234', x: 37, y: 162 },
		{ of: [3], d: 'M118 80V166H190', x: 146, y: 158 },
		{ of: [4], d: 'M230 186V248H160', x: 242, y: 226 },
		{ of: [5], d: 'M267 146V82', x: 280, y: 118 },
		{ of: [6, 7], d: 'M158 60H190', x: 175, y: 32 },
		{ of: [8], d: 'M342 60H352V264H160', x: 300, y: 280 },
		{ of: [9], d: 'M83 276V342', x: 70, y: 313 },
		{ of: [10], d: 'M130 276V310H267V342', x: 200, y: 302 },
		{ of: [11], d: 'M140 234V100H230V82', x: 186, y: 116 }
	]
};

const PAYMENT: Layout = {
	id: 'payment',
	title: 'Payment',
	schema: 'PaymentStatus',
	height: 462,
	places: {
		pending: [LEFT, 40],
		failed: [RIGHT, 40],
		expired: [RIGHT, 130],
		success: [LEFT, 220],
		refund_pending: [LEFT, 318],
		refund_failed: [RIGHT, 318],
		refunded: [LEFT, 414]
	},
	transitions: [
		{ from: null, to: 'pending', trigger: '`POST /v1/payments/mobile-money`' },
		{
			from: 'pending',
			to: 'success',
			trigger: 'The operator took the money.',
			event: 'payment.success'
		},
		{
			from: 'pending',
			to: 'failed',
			trigger: 'The operator refused; `failure_code` says why.',
			event: 'payment.failed'
		},
		{
			from: 'pending',
			to: 'expired',
			trigger: '`expires_at` is past without a final answer (`failure_code` is `payer_timeout`).',
			event: 'payment.failed'
		},
		{
			from: 'expired',
			to: 'success',
			trigger: 'The operator confirms late.',
			event: 'payment.success'
		},
		{ from: 'failed', to: 'success', trigger: 'The operator corrects itself.', event: 'payment.success' },
		{
			from: 'success',
			to: 'refund_pending',
			trigger: 'The payment bought nothing, or an administrator gives it back.',
			reason:
				'duplicate_payment, session_cancelled, late_payment, provisioning_failed, amount_mismatch or admin'
		},
		{
			from: 'refund_pending',
			to: 'refunded',
			trigger: 'The operator gave the money back.',
			event: 'payment.refunded'
		},
		{ from: 'refund_pending', to: 'refund_failed', trigger: 'The operator could not give it back.' },
		{ from: 'refund_failed', to: 'refund_pending', trigger: 'An administrator tries again.' }
	],
	arrows: [
		{ of: [1], d: 'M83 18V38', x: 98, y: 31 },
		{ of: [2], d: 'M50 80V218', x: 37, y: 154 },
		{ of: [3], d: 'M158 60H190', x: 173, y: 52 },
		{ of: [4], d: 'M118 80V150H190', x: 146, y: 142 },
		{ of: [5], d: 'M230 170V232H160', x: 242, y: 206 },
		{ of: [6], d: 'M342 60H352V248H160', x: 300, y: 264 },
		{ of: [7], d: 'M83 260V316', x: 70, y: 293 },
		{ of: [8], d: 'M83 358V412', x: 70, y: 390 },
		{ of: [9], d: 'M158 330H190', x: 173, y: 322 },
		{ of: [10], d: 'M192 348H160', x: 176, y: 366 }
	]
};

/** "`a`: one. `b`, `c`: others." -> what is said of a state. */
function meaningOf(description: string, state: string): string {
	const sentences = description.split(/(?<=\.)\s+(?=`)/);
	return (
		sentences
			.find((sentence) => sentence.split(':')[0]?.includes(`\`${state}\``))
			?.replace(/^[^:]*:\s*/, '')
			.replace(/^./, (letter) => letter.toUpperCase()) ?? ''
	);
}

function machineOf(document: ApiDocument, layout: Layout): Machine {
	const { enum: states = [], description = '' } = document.components.schemas[layout.schema] ?? {};
	const { id, title, height, transitions } = layout;
	return {
		id,
		title,
		height,
		nodes: states.map(String).map((state) => {
			const place = layout.places[state];
			if (!place) throw new Error(`docs/states.ts has no place for the state ${state} of ${layout.schema}`);
			const [x, y] = place;
			const isFinal = !transitions.some(({ from }) => from === state);
			return { state, x, y, isFinal, description: meaningOf(description, state) };
		}),
		edges: layout.arrows.map(({ of, d, x, y }) => ({ d, x, y, label: of.join(', ') })),
		transitions: [...transitions]
	};
}

export const machinesOf = (document: ApiDocument): Machine[] =>
	[SESSION, PAYMENT].map((layout) => machineOf(document, layout));
