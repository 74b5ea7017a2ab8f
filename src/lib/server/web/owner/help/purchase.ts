import { error, type RequestEvent } from '@sveltejs/kit';
import { describeState } from '#lib/purchase/state.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { methodName } from '#lib/domain/payment-methods/payment-methods.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { moment, pastMoment } from '#lib/format/text.ts';
import { momentText } from '#lib/format/when.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { PurchaseFacts } from '#lib/server/owner/help.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { idOf } from '../../page-links.ts';
import type { OwnerVisitor } from '../owner.ts';
import { mayDo } from '../roles.ts';
import { HELP_ACTIONS } from './actions.ts';
import { boughtText, describePurchase } from '../customers.ts';
import { adviceFor, helpState } from './state.ts';
import { timelineOf } from './timeline.ts';

/** Returns one purchase with its timeline. Throws 404 for an unknown one and for another owner's. */
export async function purchasePage(
	{ params, url, locals: { app } }: RequestEvent<{ session: string }>,
	{ actor, role }: OwnerVisitor
) {
	const facts = await app.help.read(actor.accountId, idOf(params.session));
	if (!facts) error(404, m.help_not_found());
	const { reportTimezone: timeZone } = app.config;
	const { session, payment, now, activatingUntil, isConnected } = facts;
	const { unresponsive_since: silentSince } = session;
	const takesCode =
		session.access_kind === 'portal_login' &&
		(await app.gateways.signInAt(session.router_id)).method !== 'typed';
	return {
		...describePurchase(facts, app),
		customerSees: buyersText(facts, takesCode, timeZone),
		advice: adviceFor(helpState(facts), {
			isConnected,
			takesCode,
			ssid: apart(session.router_ssid),
			address: apart(`${url.host}${link('/resume')}`),
			number: String(payment?.id ?? ''),
			silentSince: silentSince === null ? null : moment(silentSince, timeZone),
			time: moment(activatingUntil ?? now, timeZone)
		}),
		actions: [...HELP_ACTIONS].flatMap(([name, action]) =>
			action.isPossible(facts) && mayDo(role, `customers/[session]/${name}`)
				? [{ name, label: action.link() }]
				: []
		),
		refundNote: refundNote(facts, mayDo(role, 'customers/[session]/refund')),
		done: HELP_ACTIONS.get(url.searchParams.get('done') ?? '')?.done?.() ?? null,
		timeline: timelineOf(facts, boughtText(session), timeZone).map(({ at, text }) => ({
			when: pastMoment(at, { now, timeZone }, { second: '2-digit' }),
			text
		}))
	};
}

/** Explains how to refund if this person cannot refund here. */
function refundNote({ session, payment, isRefundable }: PurchaseFacts, mayRefund: boolean): string | null {
	// Time that still waits for a gateway is refunded automatically.
	if (payment?.status !== 'success' || session.status === 'activating') return null;
	if (!mayRefund) return m.staff_ask_refund();
	return isRefundable ? null : m.help_by_hand_note();
}

/** Returns the result that the buyer's page shows, without the password and the code. */
function buyersText(
	{ session, payment, extraUntil, now }: PurchaseFacts,
	takesCode: boolean,
	timeZone: string
): string {
	const { amount_minor, currency } = session;
	const end = extraUntil ?? session.expires_at;
	const { kind, title, text } = describeState(
		{
			status: extraUntil === null ? session.status : 'active',
			isExtra: extraUntil !== null,
			status_reason: session.status_reason,
			expires_at: isoTime(end),
			access: { kind: session.access_kind }
		},
		payment && { ...payment, applied: payment.applied === 1, created_at: isoTime(payment.created_at) },
		{
			amount: formatMinor(amount_minor, currency),
			taken: formatMinor(payment?.settled_minor ?? amount_minor, payment?.settled_currency ?? currency),
			number: maskPhone((payment ?? session).phone),
			method: methodName(session.payment_method),
			ssid: apart(session.router_ssid),
			until: end === null ? null : momentText(new Date(end), new Date(now), timeZone),
			data: null,
			code: ''
		},
		new Date(now)
	);
	const asksCode = takesCode && (kind === 'active' || kind === 'extra');
	return `${title} ${asksCode ? m.purchase_code_there({ choose: m.common_paid_already() }) : text}`;
}
