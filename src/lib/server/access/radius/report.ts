import { z } from 'zod';
import { normaliseIp } from '#lib/domain/address.ts';

const MAX_TEXT = 253;
/** Databases reject NUL and lone surrogates. After an error the gateway repeats its report forever. */
export const radiusText = z
	.string()
	.max(MAX_TEXT)
	.transform((value) => value.replaceAll('\0', '').toWellFormed());

/** RADIUS integers have 32 bits. */
const MAX_INTEGER = 2 ** 32 - 1;
const GIGAWORD = 2 ** 32;
/** 10 Gbit/s for 15 hours. A larger value means that the gateway's counter fell below zero. */
const MAX_BYTES = 2 ** 46;
const MAX_LASTED_SECONDS = 366 * 24 * 60 * 60;

/** Invalid numbers count as 0, because the rest of the report is still useful. */
const count = radiusText.transform((value) => {
	const number = /^\d{1,10}$/.test(value) ? Number(value) : 0;
	return number <= MAX_INTEGER ? number : 0;
});
const optional = radiusText.transform((value) => value || null);

/** Acct-Status-Type, RFC 2866, 5.1. */
const STATUSES = { 1: 'start', 2: 'stop', 3: 'interim', 7: 'on', 8: 'off' } as const;

/**
 * A report on a device's connection (accounting, RFC 2866), as FreeRADIUS sends it. Reports may repeat, be late and
 * change order; the resulting rows are the same. Connections without a pass are kept, because owners want to see them.
 */
export const reportShape = z
	.object({
		/** null for other types, such as tunnels: after an error the gateway would repeat them forever. */
		status: z
			.string()
			.regex(/^\d{1,10}$/)
			.transform((value) => STATUSES[Number(value) as keyof typeof STATUSES] ?? null),
		/** Acct-Session-Id; some gateways leave it empty with `on` and `off`. */
		session: radiusText,
		user: optional,
		/** Calling-Station-Id */
		mac: optional,
		/** Framed-IP-Address; null if it is no address. */
		ip: radiusText.transform(normaliseIp),
		nas_address: optional,
		nas_identifier: optional,
		/** `0x` and two digits per octet. */
		class: z
			.string()
			.max(2 + 2 * MAX_TEXT)
			.transform(className),
		/** Event-Timestamp by the gateway's clock, in seconds since the epoch. */
		at: count.transform((seconds) => seconds || null),
		/** Acct-Delay-Time: age of the report. */
		delay: count,
		/** Acct-Session-Time: duration of the connection. */
		lasted: count.transform((seconds) => (seconds <= MAX_LASTED_SECONDS ? seconds : null)),
		in: count,
		in_gigawords: count,
		out: count,
		out_gigawords: count,
		/** Acct-Terminate-Cause */
		cause: optional
	})
	.transform(({ at, delay, lasted, in: low, in_gigawords, out: outLow, out_gigawords, ...report }) => ({
		...report,
		...{ atSeconds: at, delaySeconds: delay, lastedSeconds: lasted },
		bytesIn: byteCount(in_gigawords, low),
		bytesOut: byteCount(out_gigawords, outLow)
	}));

export type AccountingReport = z.output<typeof reportShape>;

function byteCount(gigawords: number, rest: number): number {
	const bytes = gigawords * GIGAWORD + rest;
	return bytes <= MAX_BYTES ? bytes : 0;
}

function className(printed: string): string | null {
	const hex = /^0x((?:[0-9a-f]{2})+)$/i.exec(printed)?.[1];
	const name = hex === undefined ? printed : Buffer.from(hex, 'hex').toString('latin1');
	return name === '' ? null : name;
}
