/**
 * Loaded into a server under test (`node --import`): `Date` runs ahead of, or behind, the machine by an
 * offset that the test sets over IPC. Timers keep their real pace; what is due by the clock is found by the
 * jobs' next look. Intl and SQL's own now() are not moved: the domain asks Date.now() only.
 */
import process from 'node:process';

const RealDate = Date;
const realNow = RealDate.now;
let offsetMs = Number(process.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);

const movedNow = () => realNow() + offsetMs;

const MovedDate = new Proxy(RealDate, {
	construct: (target, args, newTarget) =>
		Reflect.construct(target, args.length === 0 ? [movedNow()] : args, newTarget),
	apply: () => new RealDate(movedNow()).toString()
});
RealDate.now = movedNow;
RealDate.prototype.constructor = MovedDate;
globalThis.Date = MovedDate;

process.on('message', (message) => {
	if (typeof message !== 'object' || message === null || !('clockOffsetMs' in message)) return;
	offsetMs = Number(message.clockOffsetMs);
	process.send?.({ clockOffsetMs: offsetMs });
});
// The test is gone, however it ended: no server stays behind.
process.on('disconnect', () => process.exit(1));
// Listening for messages must not keep a server alive that has finished.
process.channel?.unref();
