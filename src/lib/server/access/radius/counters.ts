import { isPossibleGrowth } from '#lib/domain/offers.ts';
import type { AccountingReport } from './report.ts';
import type { ConnectionRow } from '../connection-store.ts';

type Counters = Pick<ConnectionRow, 'bytes_in' | 'bytes_out' | 'counter_in' | 'counter_out'>;

/** `at`: time of the report. */
type Reported = Pick<AccountingReport, 'bytesIn' | 'bytesOut' | 'lastedSeconds'> & { at: number };

/**
 * Returns the bytes of a connection after a report, and its counters as reported.
 *
 * A counter grows from the last report, or from what has been counted if that is nearer. Growth that cannot be counts
 * nothing, but the next report is measured from it. So a false counter ends no pass, and a true one counts on: after a
 * burst, a restart at 0, and at 2^32 without Gigawords. A late report changes nothing.
 */
export function countersOf(
	before: Counters,
	{ at, bytesIn, bytesOut, lastedSeconds }: Reported,
	{ startedAt, since }: { startedAt: number; since: number }
): Counters {
	// Acct-Delay-Time may be missing, so the duration of the connection tells which report is newer.
	const lastedMs = (lastedSeconds ?? 0) * 1000;
	const isNewer = Math.max(startedAt + lastedMs, at - lastedMs) > since;
	function next(bytes: number, last: number | null, counter: number) {
		const reported = last ?? bytes;
		if (counter < reported && !isNewer) return { bytes, reported };
		// Infinite below both.
		const growth = counter - Math.max(...[reported, bytes].filter((from) => from <= counter));
		return { bytes: isPossibleGrowth(growth, at - since) ? bytes + growth : bytes, reported: counter };
	}
	const download = next(before.bytes_out, before.counter_out, bytesOut);
	const upload = next(before.bytes_in, before.counter_in, bytesIn);
	return {
		...{ bytes_in: upload.bytes, counter_in: upload.reported },
		...{ bytes_out: download.bytes, counter_out: download.reported }
	};
}
