import { z } from 'zod';

export const MIN_SECRET_LENGTH = 32;

export const integer = ([min, max]: [number, number], byDefault: number, description: string) => ({
	schema: z
		.string()
		.regex(/^\d+$/, 'Use a whole number.')
		.transform(Number)
		.pipe(z.number().min(min).max(max)),
	default: String(byDefault),
	description
});

export const rate = (byDefault: number, description: string) =>
	integer([1, 1_000_000], byDefault, description);

export const httpUrl = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''));

export const secret = z
	.string()
	.min(
		MIN_SECRET_LENGTH,
		`Use at least ${MIN_SECRET_LENGTH} characters, e.g. from "openssl rand -base64 32".`
	);

export const position = z
	.string()
	.regex(/^-?\d+(\.\d+)?\s*,\s*-?\d+(\.\d+)?$/, 'Use "latitude,longitude", e.g. "0.3476,32.5825".')
	.transform((text) => {
		const [lat = NaN, lon = NaN] = text.split(',').map(Number);
		return { lat, lon };
	})
	.refine(({ lat, lon }) => Math.abs(lat) <= 90 && Math.abs(lon) <= 180, 'Out of range.');

export const timeZone = z.string().refine((name) => {
	try {
		return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
	} catch {
		return false;
	}
}, 'Use an IANA time zone, e.g. "Africa/Kampala".');

export const flag = (description: string) => ({
	schema: z.enum(['0', '1'], 'Use "1" or "0".').transform((text) => text === '1'),
	default: '0',
	description
});
