import { type RequestEvent, error, fail, redirect } from '@sveltejs/kit';
import { currencyName, formatMinor, readAmount, toMajor } from '#lib/domain/money.ts';
import { plainText, withoutHidden } from '#lib/domain/text.ts';
import { spanOfDates } from '#lib/domain/time.ts';
import { amountProblem, moment, money, periodName } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { findToday } from '#lib/server/billing/earnings.ts';
import { closeCash, listClosings, sumCashInHand } from '#lib/server/billing/cash.ts';
import {
	type Card,
	type CountedBatch,
	type VoucherBatchRow,
	type VoucherCounts,
	type VoucherRefusal,
	createBatch,
	findBatchWithVouchers,
	formatVoucherNumber,
	listBatches,
	listVouchers,
	markSold,
	parseVoucherNumber,
	printVouchers,
	sellVoucher,
	sumSellers,
	voidBatch,
	voidVoucher
} from '#lib/server/billing/vouchers.ts';
import { MAX_COMMISSION, MAX_SELLER, MAX_VOUCHERS } from '#lib/server/contract/voucher.ts';
import { attempt, Refused } from '#lib/server/platform/errors.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/secrets.ts';
import { formatAgreed } from '#lib/purchase/quote.ts';
import { qrSvg } from '#lib/server/portal/qr-svg.ts';
import { listOwnedRouters } from '#lib/server/routers/routers.ts';
import { CSV_BATCH, csvResponse } from '../csv.ts';
import { noteOf, readFields } from '../form.ts';
import { idOf, pageById } from '../page-links.ts';
import { type OwnerVisitor, ownRouterOf } from './owner.ts';
import { mayDo } from './roles.ts';
import { routerState } from './router.ts';

const MAX_ROUTERS = 100;
/** More than one person sells between two counts. */
const MAX_IN_HAND = 100;

/** The page of everybody who sells: one voucher now, the cash, and for managers the printed ones and the sellers. */
export async function vouchersPage(event: RequestEvent, { actor, role }: OwnerVisitor) {
	const { app } = event.locals;
	const { reportTimezone: timeZone, currency } = app.config;
	const mayMake = mayDo(role, 'vouchers', 'make');
	const { accountId, personId } = actor;
	const [offers, cash, inHand, closings, batches, sellers] = await Promise.all([
		listOffers(event, accountId),
		sumCashInHand(app, actor),
		listVouchers(app, accountId, { soldBy: personId, isInHand: true, before: null, limit: MAX_IN_HAND }),
		pageById(event, 'counts', {}, (before, limit) =>
			listClosings(app, accountId, mayMake ? null : personId, { before, limit })
		),
		mayMake
			? pageById(event, 'before', {}, (before, limit) => listBatches(app, accountId, { before, limit }))
			: null,
		mayMake ? readSellers(event, accountId) : null
	]);
	return {
		form: purchaseToken(),
		currency: currencyName(currency),
		offers,
		cash: {
			sum: formatMinor(cash.sum, currency),
			text: m.vouchers_cash_text({ count: numberText(cash.count) }),
			sold: inHand.map((one) => ({
				id: one.id,
				number: formatVoucherNumber(one.id),
				what: describeSale(one),
				when: moment(one.sold_at ?? one.created_at, timeZone),
				isRedeemed: one.status === 'redeemed',
				mayUndo: one.status !== 'redeemed' && (mayMake || one.form !== null)
			}))
		},
		closings: {
			rows: closings.rows.map((one) => ({
				id: one.id,
				who: one.email,
				when: moment(one.created_at, timeZone),
				text: describeClosing(one),
				isExact: one.counted_minor === one.expected_minor,
				note: one.note
			})),
			pages: closings.pages
		},
		batches: batches && {
			rows: batches.rows.map((batch) => describeBatch(batch, timeZone)),
			pages: batches.pages
		},
		sellers,
		done: DONE[event.url.searchParams.get('done') ?? '']?.() ?? null
	};
}

const DONE: Readonly<Record<string, () => string>> = {
	mark: m.vouchers_mark_done,
	undo: m.vouchers_undo_done,
	close: m.vouchers_close_done
};

/**
 * The active offers of all routers, with the value of their field. One of a router that sells nothing now says so, because
 * its voucher cannot be redeemed either.
 */
async function listOffers({ locals: { app } }: RequestEvent, accountId: number): Promise<[string, string][]> {
	const { data } = await listOwnedRouters(app.routers, accountId, { afterId: 0, limit: MAX_ROUTERS });
	const withOffers = data.filter(({ offers }) => offers.length > 0);
	const when = { now: app.clock.now(), timeZone: app.config.reportTimezone };
	return withOffers.flatMap((router) => {
		const { id, name, offers, currency, max_devices: usual } = router;
		const { tone, label } = routerState(router, when);
		const place = [...(withOffers.length > 1 ? [apart(name)] : []), ...(tone === 'good' ? [] : [label])];
		return offers.map(({ id: offer, name: offer_name, duration, price, max_devices }): [string, string] => {
			const time = describeTime({ offer_name, duration, max_devices: max_devices ?? usual });
			return [`${id}:${offer}`, [time, money(price, currency), ...place].join(' · ')];
		});
	});
}

type Terms = Pick<VoucherBatchRow, 'offer_name' | 'duration' | 'max_devices'>;
type Sold = Terms & Pick<VoucherBatchRow, 'amount_minor' | 'currency'>;

const describeSale = (one: Sold): string =>
	`${describeTime(one)} · ${formatMinor(one.amount_minor, one.currency)}`;

const describeTime = ({ offer_name: name, duration, max_devices }: Terms): string =>
	formatAgreed(duration, { name, ...(max_devices > 1 && { max_devices }) });

function describeClosing(closing: {
	counted_minor: number;
	expected_minor: number;
	currency: string;
}): string {
	const { counted_minor: counted, expected_minor: expected, currency } = closing;
	if (counted === expected) return m.vouchers_closing_exact({ money: formatMinor(counted, currency) });
	return m.vouchers_closing_differs({
		counted: formatMinor(counted, currency),
		expected: formatMinor(expected, currency),
		difference: money(toMajor(counted - expected, currency), currency)
	});
}

const describeCounts = (counts: VoucherCounts): string =>
	m.vouchers_counts({
		unsold: numberText(counts.unsold),
		sold: numberText(counts.sold),
		redeemed: numberText(counts.redeemed),
		void: numberText(counts.void)
	});

const describeBatch = (batch: CountedBatch, timeZone: string) => ({
	id: batch.id,
	title: `${numberText(batch.size)} × ${describeSale(batch)}`,
	where: [apart(batch.router_name), ...(batch.seller === null ? [] : [apart(batch.seller)])].join(' · '),
	when: moment(batch.created_at, timeZone),
	counts: batch.printed_at === null ? m.vouchers_not_printed() : describeCounts(batch.counts)
});

/** What each seller sold this month, and what they keep. */
async function readSellers({ locals: { app } }: RequestEvent, accountId: number) {
	const { currency, reportTimezone: timeZone } = app.config;
	const today = findToday(app);
	const first = `${today.slice(0, 8)}01`;
	const { from, to } = spanOfDates(first, today, timeZone);
	const rows = await sumSellers(app, accountId, { from, until: to });
	return {
		period: periodName('monthly', first, today),
		rows: rows.map((one) => ({
			name: one.name ?? m.vouchers_no_person(),
			figures: [numberText(one.sold), numberText(one.redeemed), formatMinor(one.commission, currency)],
			net: formatMinor(one.cash, currency)
		}))
	};
}

const EMPTY = {
	which: '',
	problem: null as string | null,
	sold: null as ReturnType<typeof describeSold> | null
};

const refuse = (which: string, problem: string, status = 400, typed: Record<string, string> = {}) =>
	fail(status, { ...EMPTY, typed, which, problem });

const REFUSALS: Readonly<Record<VoucherRefusal, () => string>> = {
	nothing_to_print: m.vouchers_nothing_to_print,
	unknown_voucher: m.vouchers_unknown,
	not_unsold: m.vouchers_not_unsold,
	of_seller: m.vouchers_of_seller,
	already_redeemed: m.vouchers_redeemed_already,
	voided: m.vouchers_undo_done
};

/** The last two: a form with the router of somebody else. */
const NOT_ON_OFFER = ['offer_not_available', 'router_not_found', 'not_router_owner'];

/** @throws Refused that is not for a person */
function explain(refused: Refused<string>): string {
	const text = REFUSALS[refused.reason as VoucherRefusal]?.();
	if (text !== undefined) return text;
	if (NOT_ON_OFFER.includes(refused.reason)) return m.vouchers_choose_offer();
	throw refused;
}

function readOffer(text: string): { routerId: number; offerId: number } | null {
	const [router, offer] = text.split(':').map(idOf);
	return router && offer ? { routerId: router, offerId: offer } : null;
}

/** Sells one voucher and shows its code once. */
export async function sellOne(event: RequestEvent, { actor }: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const offer = readOffer(field('offer'));
	const form = field('form');
	if (!offer || !PURCHASE_TOKEN_PATTERN.test(form)) return refuse('sell', m.vouchers_choose_offer());
	const sold = await attempt(() => sellVoucher(event.locals.app, actor, { ...offer, form }));
	if (sold instanceof Refused) return refuse('sell', explain(sold), 409);
	return { ...EMPTY, typed: {}, sold: describeSold(event, sold) };
}

function describeSold(
	{ locals: { origin } }: RequestEvent,
	{ batch, card }: { batch: VoucherBatchRow; card: Card }
) {
	return {
		...describeCard(origin, card),
		id: card.id,
		take: m.vouchers_take({ money: formatMinor(batch.amount_minor, batch.currency) }),
		what: describeTime(batch),
		address: apart(`${new URL(origin).host}/redeem`)
	};
}

const describeCard = (origin: string, { id, code }: Card) => ({
	number: formatVoucherNumber(id),
	code,
	qr: qrSvg(`${origin}/redeem?code=${code}`)
});

/** The person has the cash of a printed voucher. */
export async function markOne(event: RequestEvent, { actor, role }: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const number = field('number', MAX_TYPED);
	const withoutSellers = !mayDo(role, 'vouchers', 'make');
	const marks = () => markSold(event.locals.app, actor, parseVoucherNumber(number), { withoutSellers });
	return changeAndSay(event, 'mark', marks, { number });
}

const MAX_TYPED = 64;

async function changeAndSay(event: RequestEvent, which: string, change: () => Promise<unknown>, typed = {}) {
	const refused = await attempt(change);
	if (refused instanceof Refused) return refuse(which, explain(refused), 409, typed);
	redirect(303, `${event.url.pathname}?done=${which}`);
}

export async function undoSale(event: RequestEvent, { actor, role }: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const ownOnly = !mayDo(role, 'vouchers', 'make');
	const id = idOf(field('id'));
	return changeAndSay(event, 'undo', () => voidVoucher(event.locals.app, actor, id, { ownOnly }));
}

const MAX_NOTE = 200;

export async function countCash(event: RequestEvent, { actor }: OwnerVisitor) {
	const { app } = event.locals;
	const { field } = await readFields(event.request);
	const form = field('form');
	const typed = { counted: field('counted', MAX_TYPED), note: noteOf(field) };
	const counted = readAmount(typed.counted, app.config.currency);
	if (typeof counted === 'string' && counted !== 'not_a_number')
		return refuse('close', amountProblem(counted, typed.counted, app.config.currency), 400, typed);
	if (typeof counted === 'string' || counted < 0 || !PURCHASE_TOKEN_PATTERN.test(form))
		return refuse('close', m.vouchers_counted_wrong(), 400, typed);
	const count = { countedMinor: counted, note: typed.note.slice(0, MAX_NOTE), form };
	return changeAndSay(event, 'close', () => closeCash(app, actor, count));
}

/** Makes a batch to print. */
export async function makeBatch(event: RequestEvent, { actor }: OwnerVisitor) {
	const { app } = event.locals;
	const { field } = await readFields(event.request);
	const form = field('form');
	const typed = {
		offer: field('offer'),
		size: field('size'),
		seller: field('seller'),
		commission: field('commission')
	};
	const offer = readOffer(typed.offer);
	const size = Number(/^\d{1,4}$/.exec(plainText(typed.size).replace(/[ ,.](?=\d{3}$)/, ''))?.[0] ?? 0);
	const seller = withoutHidden(typed.seller).trim();
	const percent = Number(
		/^(\d+([.,٫]\d+)?) ?[%٪]?$/.exec(plainText(typed.commission) || '0')?.[1]?.replace(/[,٫]/, '.') ?? NaN
	);
	const problem =
		!offer || !PURCHASE_TOKEN_PATTERN.test(form)
			? m.vouchers_choose_offer()
			: size < 1 || size > MAX_VOUCHERS
				? m.vouchers_size_wrong({ max: numberText(MAX_VOUCHERS) })
				: [...seller].length > MAX_SELLER
					? m.vouchers_seller_wrong({ max: String(MAX_SELLER) })
					: !(percent >= 0 && percent <= MAX_COMMISSION)
						? m.vouchers_commission_wrong({ max: String(MAX_COMMISSION) })
						: null;
	if (!offer || problem !== null) return refuse('make', problem ?? '', 400, typed);
	const commissionBasisPoints = Math.round(percent * 100);
	const order = { ...offer, size, seller: seller || null, commissionBasisPoints, form };
	const batch = await attempt(() => createBatch(app, actor, order));
	if (batch instanceof Refused) return refuse('make', explain(batch), 409, typed);
	redirect(303, link(`/owner/vouchers/${batch.id}`));
}

const PAPERS = [
	['a4-24', () => m.vouchers_paper_a4({ count: '24' })],
	['a4-40', () => m.vouchers_paper_a4({ count: '40' })],
	['r58', () => m.vouchers_paper_receipt({ width: '58' })],
	['r80', () => m.vouchers_paper_receipt({ width: '80' })]
] as const;

type BatchEvent = RequestEvent<{ batch: string }>;

/** Throws 404 for an unknown batch and for another owner's. */
async function ownBatch(
	{ params, locals }: BatchEvent,
	{ actor }: OwnerVisitor,
	page: { before: number | null; limit: number } = { before: null, limit: 1 }
) {
	const found = await attempt(() =>
		findBatchWithVouchers(locals.app, actor.accountId, idOf(params.batch), page)
	);
	return found instanceof Refused ? error(404, m.vouchers_unknown()) : found;
}

/** A batch: its vouchers, and the form to print it. */
export async function batchPage(event: BatchEvent, owner: OwnerVisitor) {
	const { reportTimezone: timeZone } = event.locals.app.config;
	const { batch, counts } = await ownBatch(event, owner);
	const { rows, pages } = await pageById(event, 'before', {}, async (before, limit) => {
		return (await ownBatch(event, owner, { before, limit })).vouchers;
	});
	return {
		title: `${numberText(batch.size)} × ${describeSale(batch)}`,
		seller: batch.seller,
		commission:
			batch.commission_basis_points === 0 ? null : `${numberText(batch.commission_basis_points / 100)} %`,
		counts: describeCounts(counts),
		printedAt: batch.printed_at,
		unsold: counts.unsold,
		papers: PAPERS.map(([paper, words]) => [paper, words()] as const),
		vouchers: rows.map((one) => describeVoucher(one, timeZone)),
		pages,
		done: event.url.searchParams.has('done')
	};
}

const STATES = {
	unsold: [m.vouchers_is_unsold, null],
	sold: [m.vouchers_is_sold, 'notice'],
	redeemed: [m.vouchers_is_redeemed, 'good'],
	void: [m.vouchers_is_void, 'bad']
} as const;

function describeVoucher(one: Awaited<ReturnType<typeof listVouchers>>[number], timeZone: string) {
	const [label, tone] = STATES[one.status];
	const who = one.sold_by_email ?? one.seller ?? m.vouchers_no_person();
	const lineAt = (at: number | null, line: (time: string) => string) =>
		at === null ? [] : [line(moment(at, timeZone))];
	return {
		...{ id: one.id, number: formatVoucherNumber(one.id), label: label(), tone, session: one.session_id },
		text: [
			...lineAt(one.sold_at, (time) => m.vouchers_at_sold({ time, who })),
			...lineAt(one.redeemed_at, (time) => m.vouchers_at_redeemed({ time })),
			...lineAt(one.void_at, (time) => m.vouchers_at_void({ time, who: one.void_by_email ?? '' }))
		]
	};
}

/** Makes the codes of a batch and shows them, to print, only in this answer. */
export async function printBatch(event: BatchEvent, owner: OwnerVisitor) {
	const { app, origin } = event.locals;
	const { field } = await readFields(event.request);
	const [paper] = PAPERS.find(([one]) => one === field('paper')) ?? PAPERS[0];
	const found = await ownBatch(event, owner);
	const router = await ownRouterOf(event, owner, found.batch.router_id);
	// A reload would print other codes, and those on the paper would stop working.
	const isOld = field('printed') !== String(found.batch.printed_at ?? '');
	if (isOld || (found.batch.printed_at !== null && field('confirm') === ''))
		return fail(400, { problem: m.vouchers_confirm_first(), sheet: null });
	const printed = await attempt(() => printVouchers(app, owner.actor, found.batch.id));
	if (printed instanceof Refused) return fail(409, { problem: explain(printed), sheet: null });
	const { batch, cards } = printed;
	return {
		problem: null,
		sheet: {
			paper,
			place: router.name,
			what: describeTime(batch),
			price: formatMinor(batch.amount_minor, batch.currency),
			ssid: router.ssid,
			address: `${new URL(origin).host}/redeem`,
			cards: cards.map((card) => describeCard(origin, card))
		}
	};
}

export async function voidUnsold(event: BatchEvent, { actor }: OwnerVisitor) {
	const { field } = await readFields(event.request);
	if (field('confirm') === '') return fail(400, { problem: m.vouchers_confirm_first(), sheet: null });
	const voided = await attempt(() => voidBatch(event.locals.app, actor, idOf(event.params.batch)));
	if (voided instanceof Refused) error(404, m.vouchers_unknown());
	redirect(303, `${event.url.pathname}?done=void`);
}

/** Not translated, as the file of payments. */
const COLUMNS = [
	'Number,Batch,Router,Offer,Duration,Price,Currency,Seller,Commission,Status,Made (UTC),Sold (UTC),Sold by',
	'Redeemed (UTC),Session,Void (UTC),Voided by,Cash count'
].flatMap((names) => names.split(','));

export function vouchersFile({ locals: { app } }: RequestEvent, { actor }: OwnerVisitor): Response {
	const time = (at: number | null) => (at === null ? '' : new Date(at).toISOString());
	return csvResponse(
		'airtill-vouchers.csv',
		COLUMNS,
		async (before: number | null) => {
			const rows = await listVouchers(app, actor.accountId, { before, limit: CSV_BATCH });
			return { rows, next: rows.length < CSV_BATCH ? null : (rows.at(-1)?.id ?? null) };
		},
		({ rows }) =>
			rows.map((one) => [
				...[formatVoucherNumber(one.id), one.batch_id, one.router_name, one.offer_name, one.duration],
				...[toMajor(one.amount_minor, one.currency), one.currency, one.seller ?? ''],
				toMajor(Math.floor((one.amount_minor * one.commission_basis_points + 5000) / 10_000), one.currency),
				...[one.status, time(one.created_at), time(one.sold_at), one.sold_by_email ?? ''],
				...[time(one.redeemed_at), one.session_id ?? '', time(one.void_at), one.void_by_email ?? ''],
				one.closing_id ?? ''
			])
	);
}
