import pino from 'pino';
import { redact } from './redact.ts';

/** Logs JSON lines to standard error. Redaction is a second safety net: callers never log secrets. */
export type Log = pino.Logger;

const SECRET_FIELDS = ['authorization', 'password', 'secret', 'token', 'key', 'phone'];

const MAX_CAUSES = 5;

/** Keeps only these fields: PostgreSQL's `detail` contains whole rows, with phone numbers. */
function loggedError(error: unknown, depth = 0): object {
	if (!(error instanceof Error)) return { message: redact(String(error)) };
	const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
	const hasCause = error.cause !== undefined && depth < MAX_CAUSES;
	return {
		type: error.constructor.name,
		message: redact(error.message),
		...code,
		stack: redact(error.stack ?? ''),
		...(hasCause ? { cause: loggedError(error.cause, depth + 1) } : {})
	};
}

/** Keeps request ids and IP addresses whole: digits in them look like phone numbers. */
const KEPT = ['request', 'network'];

const redactFields = (fields: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(
		Object.entries(fields).map(([name, value]) => [
			name,
			typeof value === 'string' && !KEPT.includes(name) ? redact(value) : value
		])
	);

/** Lines that wait for space on a full disk; later ones are lost. */
const MAX_WAITING_BYTES = 1 << 20;

export function createLog(level: string): Log {
	const destination = pino.destination({ dest: 2, sync: true, maxLength: MAX_WAITING_BYTES });
	// Airtill goes on when its log cannot be written. A later line writes those that wait, also one that is lost itself.
	destination.on('error', () => {});
	destination.on('drop', () => destination.write(''));
	return pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			// Also redacts messages of libraries, such as better-auth.
			hooks: {
				logMethod(args, write) {
					const safe = args.map((part: unknown) => (typeof part === 'string' ? redact(part) : part));
					write.apply(this, safe as typeof args);
				}
			},
			formatters: { log: redactFields },
			serializers: { err: (error: unknown) => loggedError(error) },
			redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), remove: true }
		},
		destination
	);
}
