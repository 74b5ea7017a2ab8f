import { type RequestEvent, fail } from '@sveltejs/kit';
import { MAX_TRANSACTION } from '#lib/domain/help.ts';
import { formatFault, formatMinor, readAmount } from '#lib/domain/money.ts';
import { METHOD_NAMES } from '#lib/domain/payment-methods.ts';
import { FIRST_DATE, LAST_DATE, isDate, spanOfDates } from '#lib/domain/time.ts';
import { moment } from '#lib/format/text.ts';
import {
	type Obstacle,
	MAX_RUN,
	computeRunSum,
	createRun,
	decideRun,
	importOutcomes,
	isAskedAbout,
	listOutcomes,
	listPayouts,
	listProposed,
	previewRun,
	recordOutcome
} from '#lib/server/billing/payouts.ts';
import { attempt, refuse } from '#lib/server/platform/errors.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/secrets.ts';
import {
	type Order,
	actorOf,
	adminForm,
	adminPage,
	changeForm,
	findNames,
	readReason
} from '#lib/server/web/admin.ts';
import type { App } from '#lib/server/app.ts';
import { type Fields, readFields } from '#lib/server/web/form.ts';
import { idOf, pageById } from '#lib/server/web/page-links.ts';
import type { Visitor } from '#lib/server/web/sign-in/sign-in.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 50;

const OBSTACLES: Readonly<Record<Obstacle, string>> = {
	no_destination: 'has not said where to send it',
	destination_waits: 'has changed where to send it less than 24 hours ago',
	payout_open: 'has an open payout',
	suspended: 'is suspended',
	too_little: 'has less than the operator sends at a time'
};

const accountText = ({ method, address }: { method: string | null; address: string | null }) =>
	method === null ? '' : `${METHOD_NAMES[method] ?? method} ${address}`;

/** Reads what a run is to pay. `problem` is null for a good one. */
function readOrder({ locals: { app } }: RequestEvent, read: Fields) {
	const { currency, reportTimezone } = app.config;
	const typed = { until: read('until').trim(), minimum: read('minimum').trim(), by: read('by') };
	const minimum = typed.minimum === '' ? 0 : readAmount(typed.minimum, currency);
	const isDay = isDate(typed.until) && typed.until >= FIRST_DATE && typed.until <= LAST_DATE;
	const problem =
		typeof minimum === 'string'
			? `Smallest payout: "${typed.minimum}" ${formatFault(minimum, typed.minimum, currency)}.`
			: typed.until !== '' && !isDay
				? 'Sales up to and including this day: write a date such as 2026-11-30, or leave it empty.'
				: null;
	const until = isDay ? spanOfDates(typed.until, typed.until, reportTimezone).to : null;
	return {
		typed,
		problem,
		order: { until, minimumMinor: typeof minimum === 'number' ? minimum : 0, byOperator: typed.by !== 'file' }
	};
}

/** /admin/payouts?preview&until=&minimum=&by=: a run before it is made. ?show=all: all payouts, otherwise the open ones. */
export const load = adminPage(async (event, admin) => {
	const { app } = event.locals;
	const { searchParams } = event.url;
	const { currency, reportTimezone: timeZone } = app.config;
	const { typed, problem, order } = readOrder(event, (name) => searchParams.get(name) ?? '');
	const isAsked = searchParams.has('preview') && problem === null;
	const candidates = isAsked ? await previewRun(app, order) : [];
	const ready = candidates.filter(({ obstacle }) => obstacle === null);
	const isUnfinished = searchParams.get('show') !== 'all';
	const { rows, pages } = await pageById(
		event,
		'before',
		isUnfinished ? {} : { show: 'all' },
		(before, limit) => listPayouts(app, { isUnfinished }, { before, limit })
	);
	const proposed = await listProposed(app, null);
	const nameOf = await findNames(
		event,
		[...rows, ...proposed].flatMap((one) => [one.created_by, one.approved_by])
	);
	const money = (minor: number) => formatMinor(minor, currency);
	return {
		...{ typed, problem, currency, isUnfinished, pages },
		needsApproval: app.config.payoutApproval,
		preview: isAsked
			? {
					run: purchaseToken(),
					count: ready.length,
					sum: money(ready.reduce((sum, { amount }) => sum + amount, 0)),
					isCut: candidates.length === MAX_RUN,
					rows: candidates.map(({ id, email, amount, operator, obstacle, ...to }) => ({
						...{ id, email, amount: money(amount) },
						what: obstacle === null ? `${accountText(to)}, by ${operator ?? 'file'}` : OBSTACLES[obstacle]
					}))
				}
			: null,
		proposed: [...Map.groupBy(proposed, ({ run }) => run)].map(([run, payouts]) => ({
			...{ run, shown: computeRunSum(payouts) },
			sum: money(computeRunSum(payouts).sum),
			rows: payouts.map((payout) => ({
				...{ id: payout.owner_account_id, email: payout.email, amount: money(payout.amount_minor) },
				what: `${accountText(payout)}, by ${payout.operator ?? 'file'}`
			})),
			by: nameOf(payouts[0]?.created_by ?? ''),
			isOwn: payouts[0]?.created_by === actorOf(admin)
		})),
		payouts: await Promise.all(
			rows.map(async (payout) => ({
				...{ id: payout.id, email: payout.email, status: payout.status, answer: payout.answer },
				amount: money(payout.amount_minor),
				when: moment(payout.updated_at, timeZone, { year: 'numeric' }),
				what: `${accountText(payout)}, by ${payout.operator ?? 'file'}`,
				reference: payout.reference,
				transaction: payout.provider_reference,
				by: [payout.created_by, ...(payout.approved_by === null ? [] : [payout.approved_by])].map(nameOf),
				outcomes: listOutcomes(payout, await isAskedAbout(app.database.db, payout))
			}))
		),
		done: DONE[searchParams.get('done') ?? ''] ?? null
	};
});

const DONE: Readonly<Record<string, string>> = {
	create: 'The run is created.',
	approve: 'The run is approved.',
	some: 'The run is approved, without the payouts that were cancelled: their owners have less by now, or want it elsewhere.',
	none: 'Nothing was approved: the payouts were cancelled, because the owners have less by now, or want it elsewhere.',
	cancel: 'The run is cancelled. Nothing was sent.',
	record: 'The outcome is recorded.'
};

/** Makes a form with a reason; a second click changes nothing. */
const payoutForm = (
	which: string,
	act: (order: Order<App>) => Promise<unknown>,
	fields?: readonly string[]
) =>
	changeForm(
		which,
		{
			async run(order: Order<App>) {
				const done = await act(order);
				return typeof done === 'string' ? { leadTo: `${order.event.url.pathname}?done=${done}` } : 'done';
			}
		},
		async ({ locals }: RequestEvent) => locals.app,
		fields
	);

export const actions = {
	create: payoutForm('create', ({ event, subject, author, field }) => {
		const { problem, order } = readOrder(event, field);
		const run = PURCHASE_TOKEN_PATTERN.test(field('run')) ? field('run') : null;
		if (problem !== null || run === null) throw refuse(problem ?? 'Preview the run again.');
		return createRun(subject, { ...order, run }, author);
	}),
	approve: payoutForm('approve', async ({ subject, author, field }) => {
		const [count = NaN, sum = NaN] = ['count', 'sum'].map((name) => Number(field(name) || NaN));
		const { approved, cancelled } = await decideRun(subject, field('run'), { count, sum }, author);
		return approved === 0 ? 'none' : cancelled > 0 ? 'some' : null;
	}),
	cancel: payoutForm('cancel', ({ subject, author, field }) =>
		decideRun(subject, field('run'), null, author)
	),
	record: payoutForm(
		'record',
		({ subject, author, field }) => {
			const transaction = field('transaction').trim().slice(0, MAX_TRANSACTION) || null;
			const outcome = (['paid', 'failed'] as const).find((one) => one === field('outcome'));
			if (outcome === undefined) throw refuse('Outcome: choose one.');
			return recordOutcome(subject, idOf(field('id')), { ...author, outcome, transaction });
		},
		['id', 'outcome', 'transaction']
	),
	import: adminForm(async (event: RequestEvent, admin: Visitor) => {
		const { field, file } = await readFields(event.request);
		const { note, problem } = readReason(field);
		const bytes = (await file('file')) ?? Buffer.alloc(0);
		const refused = (text: string) => fail(400, { which: 'import', note, problem: text });
		if (problem !== null) return refused(problem);
		if (bytes.length === 0 || bytes.length > MAX_FILE_BYTES)
			return refused('File: choose a CSV file of at most 1 MB.');
		const author = { by: actorOf(admin), note };
		const imported = await attempt(() => importOutcomes(event.locals.app, bytes, author));
		if ('message' in imported) return refused(imported.message);
		return {
			which: 'import',
			note,
			problem: null,
			imported: { ...imported, problems: imported.problems.slice(0, MAX_PROBLEMS) }
		};
	})
};
