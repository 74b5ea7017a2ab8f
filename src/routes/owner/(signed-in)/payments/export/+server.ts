import { timeAt } from '#lib/format/calendar.ts';
import { csvResponse, type CsvCell } from '#lib/server/web/csv.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Earnings, LinePosition } from '#lib/server/billing/earnings/earnings.ts';
import { dayOf, filterOf, periodOf } from '#lib/server/web/owner/figures/period.ts';
import type { RequestHandler } from './$types';

const BATCH = 500;

/** Not translated, so that one program reads the files of all owners. */
const columnsOf = (timeZone: string) => [
	...[
		`Time (${timeZone})`,
		'Time (UTC)',
		'Kind',
		'Payment',
		'Session',
		'Router',
		'Phone',
		'Duration',
		'Offer'
	],
	...['Amount', 'Fee', 'Net', 'Currency', 'Transaction ID']
];

async function* rowsOf(
	timeZone: string,
	linesAfter: (after: LinePosition | null) => ReturnType<Earnings['lines']>
): AsyncGenerator<CsvCell[]> {
	let after: LinePosition | null = null;
	do {
		const { data, currency, next }: Awaited<ReturnType<Earnings['lines']>> = await linesAfter(after);
		for (const line of data) {
			const { kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName, transaction } = line;
			const sale = [kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName ?? ''];
			const times = [timeAt(line.at, timeZone), new Date(line.at).toISOString()];
			yield [...times, ...sale, line.amount, line.fee, line.net, currency, transaction ?? ''];
		}
		after = next;
	} while (after !== null);
}

/** GET /owner/payments/export?period=&day=, and the filter of the page: the payments and refunds behind a sum as CSV. */
export const GET: RequestHandler = async (event) => {
	const { actor } = await requireOwner(event);
	const { earnings, config } = event.locals.app;
	const zone = config.reportTimezone;
	const period = periodOf(event.url.searchParams);
	const day = dayOf(event.url.searchParams, earnings.today());
	const filter = filterOf(event.url.searchParams);
	const rows = rowsOf(zone, (after) =>
		earnings.lines(actor, { period, day, filter }, { after, limit: BATCH })
	);
	return csvResponse(`airtill-${period}-${day}.csv`, columnsOf(zone), rows);
};
