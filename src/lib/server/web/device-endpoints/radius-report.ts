import { z } from 'zod';
import type { AccountingReport } from '#lib/server/access/access.ts';

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
const optional = radiusText.transform((value) => (value === '' ? null : value));

/** `0x` and two digits per octet. */
const octets = z.string().max(2 + 2 * MAX_TEXT);

/** Acct-Status-Type, RFC 2866, 5.1. */
const STATUSES = new Map<string, AccountingReport['status']>([
	['1', 'start'],
	['2', 'stop'],
	['3', 'interim'],
	['7', 'on'],
	['8', 'off']
]);
/** null for other types, such as tunnels: after an error the gateway would repeat them forever. */
const status = z
	.string()
	.regex(/^\d{1,10}$/)
	.transform((value) => STATUSES.get(value) ?? null);

export const reportShape = z.object({
	status,
	session: radiusText,
	user: optional,
	mac: optional,
	ip: optional,
	nas_address: optional,
	nas_identifier: optional,
	class: octets,
	at: count,
	delay: count,
	lasted: count,
	in: count,
	in_gigawords: count,
	out: count,
	out_gigawords: count,
	cause: optional
});

/** Returns null if the report's type is ignored. */
export function accountingReport(body: z.output<typeof reportShape>): AccountingReport | null {
	if (body.status === null) return null;
	return {
		status: body.status,
		sessionId: body.session,
		user: body.user,
		mac: body.mac,
		ip: body.ip,
		nasAddress: body.nas_address,
		nasIdentifier: body.nas_identifier,
		className: className(body.class),
		atSeconds: body.at === 0 ? null : body.at,
		delaySeconds: body.delay,
		lastedSeconds: body.lasted <= MAX_LASTED_SECONDS ? body.lasted : null,
		bytesIn: byteCount(body.in_gigawords, body.in),
		bytesOut: byteCount(body.out_gigawords, body.out),
		cause: body.cause
	};
}

function byteCount(gigawords: number, rest: number): number {
	const bytes = gigawords * GIGAWORD + rest;
	return bytes <= MAX_BYTES ? bytes : 0;
}

function className(printed: string): string | null {
	const hex = /^0x((?:[0-9a-f]{2})+)$/i.exec(printed)?.[1];
	const name = hex === undefined ? printed : Buffer.from(hex, 'hex').toString('latin1');
	return name === '' ? null : name;
}
