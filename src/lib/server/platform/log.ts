import pino from 'pino';

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

/** Redacts secrets and phone numbers in texts of others (errors, webhook responses); our own contain none. */
export const redact = (text: string): string =>
	PATTERNS.reduce((redacted, [pattern, instead]) => redacted.replace(pattern, instead), text);

/** Signs of base64, plain and escaped as in JSON, URLs and HTML: `\\/`, `%2F`, `&#43;`. */
const BASE64_SIGNS: Readonly<Record<string, string>> = {
	'+': String.raw`(?:\+|\\u002b|%2b|&#(?:x2b|43);)`,
	'/': String.raw`(?:\\?/|\\u002f|%2f|&#(?:x2f|47);)`,
	'=': String.raw`(?:=|\\u003d|%3d|&#(?:x3d|61);)`
};
const BASE64 = `(?:[0-9A-Za-z_-]|${Object.values(BASE64_SIGNS).join('|')})`;

/** Removes a known base64 text, however its signs are escaped. */
export function redactKnown(text: string, base64: string): string {
	const written = [...base64].map((character) => BASE64_SIGNS[character] ?? character).join('');
	return text.replace(new RegExp(written, 'gi'), '…');
}

const BETWEEN = String.raw`(?:[^\S\n]|[().+/-]|%20){0,2}`;

const PATTERNS: readonly [pattern: RegExp, instead: string][] = [
	[/("[\w-]*(?:token|password|secret|authorization|cookie)"\s*:\s*")(?:[^"\\]|\\.)+/gi, '$1…'],
	[/(token=)[^&;\s"'<>]+/gi, '$1…'],
	[/atl_(live|test)_[0-9A-Za-z]+/g, 'atl_$1_…'],
	[new RegExp(`whsec_${BASE64}+`, 'gi'), 'whsec_…'],
	[new RegExp(`v1(?:,|%2c)${BASE64}{40,}`, 'gi'), 'v1,…'],
	[/(?<![a-z0-9])[a-hjkmnp-z2-9]{4}(?:-[a-hjkmnp-z2-9]{4}){2}(?![a-z0-9])/gi, '****-****-****'],
	// Phone numbers: nine to fifteen digits (the E.164 maximum), grouped in any way.
	[new RegExp(String.raw`\+?(?<!\d)\d(?:${BETWEEN}\d){8,14}(?!\d)`, 'g'), '…']
];

/** Also redacts the beginning of a password or number at the end of a truncated text. */
export const redactCut = (text: string): string => redact(text).replace(BEGUN, '…');

const BEGUN = new RegExp(
	[
		'(?<![a-z0-9])[a-hjkmnp-z2-9]{4}-[a-hjkmnp-z2-9]{0,4}(?:-[a-hjkmnp-z2-9]{0,3})?$',
		String.raw`\+?(?<!\d)\d(?:${BETWEEN}\d){4,7}$`
	].join('|'),
	'i'
);
