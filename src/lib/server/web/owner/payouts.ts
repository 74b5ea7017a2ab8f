import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { formatMinor, toMajor } from '#lib/domain/money.ts';
import { METHOD_NAMES } from '#lib/domain/payment-methods.ts';
import { formatMobile } from '#lib/domain/phone.ts';
import { moment, money } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { listAlertChannels } from '../../alerts.ts';
import {
	BANK,
	MAX_ADDRESS,
	PAYOUT_METHODS,
	type PayoutRow,
	changeDestination,
	findDestinations,
	listPayouts,
	parseDestination,
	sumBalance
} from '../../billing/payouts.ts';
import { queueNotification } from '../../notifications.ts';
import { readFields } from '../form.ts';
import { pageById } from '../page-links.ts';
import { confirmPassword } from '../sign-in/second-factor.ts';
import { type OwnerVisitor, authorOf } from './owner.ts';
import { mayDo } from './roles.ts';

const nameMethod = (method: string): string => METHOD_NAMES[method] ?? m.payouts_bank();

const describeDestination = ({ method, address }: Pick<PayoutRow, 'method' | 'address'>): string =>
	method === BANK
		? `${nameMethod(method)}: ${apart(address)}`
		: `${nameMethod(method)}, ${apart(formatMobile(address))}`;

/** What an owner gets to know of a payout. */
export function describePayout(payout: PayoutRow, timeZone: string) {
	const { id, currency, amount_minor, approved_at, paid_at, failed_at, status } = payout;
	return {
		id,
		when: moment((status === 'failed' ? failed_at : paid_at) ?? approved_at ?? 0, timeZone),
		to: describeDestination(payout),
		state: {
			open: m.payouts_open(),
			paid: m.payouts_paid(),
			failed: m.payouts_failed(),
			...{ proposed: '', cancelled: '' }
		}[status],
		transaction: payout.provider_reference,
		amount: formatMinor(amount_minor, currency)
	};
}

export async function payoutsPage(event: RequestEvent, { actor, role }: OwnerVisitor) {
	const { app } = event.locals;
	const { currency, reportTimezone: timeZone } = app.config;
	const { accountId } = actor;
	const [sums, { used, next }, { rows, pages }] = await Promise.all([
		sumBalance(app, accountId),
		findDestinations(app, accountId),
		pageById(event, 'before', {}, (before, limit) =>
			listPayouts(app, { owner_account_id: accountId, isApproved: true }, { before, limit })
		)
	]);
	const signed = (minor: number) => money(toMajor(minor, currency), currency);
	const lines: (readonly [string, string])[] = [
		[m.owner_paid(), signed(sums.earned)],
		...(sums.refunded > 0 ? [[m.owner_refunded(), signed(-sums.refunded)] as const] : []),
		...(sums.fees !== 0 ? [[m.owner_fee(), signed(-sums.fees)] as const] : []),
		[m.payouts_paid(), signed(-sums.paid)],
		...(sums.open > 0 ? [[m.payouts_open(), signed(-sums.open)] as const] : [])
	];
	return {
		balance: signed(sums.balance),
		lines,
		used: used && m.payouts_used({ destination: describeDestination(used) }),
		next:
			next &&
			m.payouts_next({ destination: describeDestination(next), time: moment(next.usable_at, timeZone) }),
		mayChange: mayDo(role, 'money/payouts', 'default'),
		methods: PAYOUT_METHODS.map((method) => [method, nameMethod(method)] as const),
		maxAddress: MAX_ADDRESS,
		payouts: rows.map((payout) => describePayout(payout, timeZone)),
		pages,
		isDone: event.url.searchParams.has('done')
	};
}

/** Stores where the owner wants to be paid, and tells the owner at every address that we have. */
export async function saveDestination(event: RequestEvent, visitor: OwnerVisitor) {
	const { app, origin } = event.locals;
	const { field } = await readFields(event.request);
	const [method, address] = [field('method'), field('address')];
	const refused = (problem: string, status = 400) => fail(status, { method, address, problem });
	const to = parseDestination(method, address, app.config.defaultRegion);
	if (!to) return refused(m.payouts_wrong());
	const problem = await confirmPassword(event, visitor, field('password'));
	if (problem !== null) return refused(problem);
	const { owner, actor } = visitor;
	const channels = await listAlertChannels(app.alerts, owner.id);
	const addresses = new Map([[owner.email, 'email' as 'email' | 'sms']]);
	for (const { address: known, channel, isConfirmed } of channels) {
		if (isConfirmed && known !== null) addresses.set(known, channel);
	}
	await changeDestination(app, actor, to, authorOf(visitor), async (trx, usableAt, id) => {
		const time = moment(usableAt, app.config.reportTimezone);
		const words = { destination: describeDestination(to), time };
		const text = `${m.payouts_next(words)} ${m.payouts_mail_text()} ${origin}${link('/owner/money/payouts')}`;
		for (const [known, channel] of addresses) {
			await queueNotification(app.notifications, trx, {
				...{ accountId: owner.id, channel, kind: 'payout', key: `payout destination ${id} ${known}` },
				...{ address: known, subject: `Airtill: ${m.payouts_mail_subject()}`, text }
			});
		}
	});
	redirect(303, `${event.url.pathname}?done`);
}
