/**
 * Loaded into a server under test (`node --import`): `Date` runs ahead of, or behind, the machine by an
 * offset that the test sets over IPC. A move forward ends short pauses, so that the jobs look at once for what is due.
 * Other timers keep their real pace. Intl and SQL's own now() are not moved: the domain asks Date.now() only.
 * Passwords are hashed at little cost: at the real one a sign-in takes as long as twenty pages.
 */
import crypto from 'node:crypto';
import module from 'node:module';
import process from 'node:process';

const { scrypt } = crypto;
/** @type {(password: string, salt: string, length: number, options: crypto.ScryptOptions, done: (error: Error | null, key: Buffer) => void) => void} */
const cheapScrypt = (password, salt, length, options, done) =>
	scrypt(password, salt, length, { ...options, N: 2 }, done);
Object.assign(crypto, { scrypt: cheapScrypt });
module.syncBuiltinESMExports();

const RealDate = Date;
const realNow = RealDate.now;
let offsetMs = Number(process.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);

/** The longest pause of the jobs (MAX_SLEEP_MS of jobs.ts). */
const SHORT_MS = 250;
const { setTimeout: setRealTimeout, clearTimeout: clearRealTimeout } = globalThis;
/** Short timers that have not ended, each with its call. @type {Map<unknown, () => void>} */
const pauses = new Map();

const movedNow = () => realNow() + offsetMs;

const MovedDate = new Proxy(RealDate, {
	construct: (target, args, newTarget) =>
		Reflect.construct(target, args.length === 0 ? [movedNow()] : args, newTarget),
	apply: () => new RealDate(movedNow()).toString()
});
RealDate.now = movedNow;
RealDate.prototype.constructor = MovedDate;
globalThis.Date = MovedDate;

/** @type {(call: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) => NodeJS.Timeout} */
function setMovedTimeout(call, ms, ...values) {
	if (ms === undefined || ms > SHORT_MS) return setRealTimeout(call, ms, ...values);
	const end = () => {
		clearMovedTimeout(timer);
		call(...values);
	};
	const timer = setRealTimeout(end, ms);
	pauses.set(timer, end);
	return timer;
}

/** @param {NodeJS.Timeout | string | number | undefined} timer */
function clearMovedTimeout(timer) {
	pauses.delete(timer);
	clearRealTimeout(timer);
}

Object.defineProperties(setMovedTimeout, Object.getOwnPropertyDescriptors(setRealTimeout));
Object.assign(globalThis, { setTimeout: setMovedTimeout, clearTimeout: clearMovedTimeout });

process.on('message', (message) => {
	if (typeof message !== 'object' || message === null || !('clockOffsetMs' in message)) return;
	const isForward = Number(message.clockOffsetMs) > offsetMs;
	offsetMs = Number(message.clockOffsetMs);
	if (isForward) for (const end of [...pauses.values()]) end();
	process.send?.({ clockOffsetMs: offsetMs });
});
// The test is gone, however it ended: no server stays behind.
process.on('disconnect', () => process.exit(1));
// Listening for messages must not keep a server alive that has finished.
process.channel?.unref();
