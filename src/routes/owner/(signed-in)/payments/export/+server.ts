import { csvResponse, type CsvCell } from '#lib/server/web/csv.ts';
import { requireOwner, type OwnerVisitor } from '#lib/server/web/owner.ts';
import type { Period } from '#lib/format/calendar.ts';
import type { Earnings, LinePlace } from '#lib/server/billing/earnings/earnings.ts';
import { dayOf, periodOf } from '../../../period.ts';
import type { RequestHandler } from './$types';

const BATCH = 500;

/** Read by programs: not translated, like the API's field names. */
const COLUMNS = [
	...['time', 'kind', 'payment_id', 'session_id', 'router', 'phone', 'duration'],
	...['amount', 'fee', 'net', 'currency']
];

async function* rowsOf(
	earnings: Earnings,
	actor: OwnerVisitor['actor'],
	of: { period: Period; day: string }
): AsyncGenerator<CsvCell[]> {
	let after: LinePlace | null = null;
	do {
		const page = await earnings.lines(actor, of, { after, limit: BATCH });
		for (const line of page.data) {
			yield [
				new Date(line.at).toISOString(),
				line.kind,
				line.paymentId,
				line.sessionId,
				line.routerName,
				line.phoneMasked,
				line.duration,
				line.amount,
				line.fee,
				line.net,
				page.currency
			];
		}
		after = page.next;
	} while (after !== null);
}

/** GET /owner/payments/export?period=&day=: the payments and refunds behind a sum as CSV. */
export const GET: RequestHandler = async (event) => {
	const { actor } = await requireOwner(event);
	const { earnings } = event.locals.app;
	const period = periodOf(event.url.searchParams);
	const day = dayOf(event.url.searchParams, earnings.today());
	return csvResponse(`airtill-${period}-${day}.csv`, COLUMNS, rowsOf(earnings, actor, { period, day }));
};
