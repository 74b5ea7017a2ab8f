import pino from 'pino';

/**
 * One JSON object per line on standard error. What must never be written is removed here as a second net; the
 * first is that nobody passes it in.
 */
export type Log = pino.Logger;

const SECRET_FIELDS = ['authorization', 'password', 'secret', 'token', 'key', 'phone'];

export function createLog(level: string): Log {
	return pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), remove: true }
		},
		pino.destination({ dest: 2, sync: true })
	);
}
