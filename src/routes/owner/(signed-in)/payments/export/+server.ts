import { csvResponse, type CsvCell } from '#lib/server/web/csv.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { Earnings, LinePlace } from '#lib/server/billing/earnings/earnings.ts';
import { dayOf, periodOf } from '#lib/server/web/owner/period.ts';
import type { RequestHandler } from './$types';

const BATCH = 500;

/** Programs read them, so they are not translated, like the API's field names. */
const COLUMNS = [
	...['time', 'kind', 'payment_id', 'session_id', 'router', 'phone', 'duration', 'offer'],
	...['amount', 'fee', 'net', 'currency']
];

async function* rowsOf(
	linesAfter: (after: LinePlace | null) => ReturnType<Earnings['lines']>
): AsyncGenerator<CsvCell[]> {
	let after: LinePlace | null = null;
	do {
		const { data, currency, next }: Awaited<ReturnType<Earnings['lines']>> = await linesAfter(after);
		for (const line of data) {
			const { kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName } = line;
			const sale = [kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName ?? ''];
			yield [new Date(line.at).toISOString(), ...sale, line.amount, line.fee, line.net, currency];
		}
		after = next;
	} while (after !== null);
}

/** GET /owner/payments/export?period=&day=: the payments and refunds behind a sum as CSV. */
export const GET: RequestHandler = async (event) => {
	const { actor } = await requireOwner(event);
	const { earnings } = event.locals.app;
	const period = periodOf(event.url.searchParams);
	const day = dayOf(event.url.searchParams, earnings.today());
	const rows = rowsOf((after) => earnings.lines(actor, { period, day }, { after, limit: BATCH }));
	return csvResponse(`airtill-${period}-${day}.csv`, COLUMNS, rows);
};
