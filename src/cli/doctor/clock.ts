import { SECOND_MS } from '#lib/format/time.ts';
import { isoTime, systemClock } from '#lib/server/platform/clock.ts';
import type { Inspection } from '#lib/server/db/inspect.ts';
import { fail, ok, warn, type Finding } from '#lib/server/checks/finding.ts';

/** An earlier clock is wrong, because this file is newer. */
const EARLIEST_TIME = Date.UTC(2026, 0, 1);
const LATEST_TIME = Date.UTC(2100, 0, 1);
/** Between this machine and the database server. */
const DIFFERENCE_WARN_MS = 2 * SECOND_MS;
const DIFFERENCE_FAIL_MS = 30 * SECOND_MS;
/** A record this far in the future means that a clock was set back. */
const FUTURE_RECORD_MS = 60 * SECOND_MS;

/** @param inspection null if the database cannot be read */
export function* checkClock(inspection: Inspection | null): Generator<Finding> {
	const now = systemClock.now();
	const advice = 'set the clock, preferably with NTP (timedatectl set-ntp true)';
	const time = isoTime(now);
	const differenceMs = Math.abs(inspection?.clockAheadMs ?? 0);
	const newestAt = inspection?.newestRecordAt ?? 0;
	if (now < EARLIEST_TIME || now > LATEST_TIME) {
		yield fail('clock', `${time} cannot be`, advice);
	} else if (newestAt > now + FUTURE_RECORD_MS) {
		yield fail('clock', `${time} is before the newest record, ${isoTime(newestAt)}`, advice);
	} else if (differenceMs > DIFFERENCE_WARN_MS) {
		const what = `${time} is ${Math.round(differenceMs / SECOND_MS)} s away from the database server's clock`;
		yield (differenceMs > DIFFERENCE_FAIL_MS ? fail : warn)('clock', what, `${advice}, on both machines`);
	} else {
		yield ok('clock', time + (inspection?.clockAheadMs == null ? '' : ", as the database server's"));
	}
}
