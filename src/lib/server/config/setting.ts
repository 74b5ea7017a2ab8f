import { z } from 'zod';

export interface Setting {
	schema: z.ZodType;
	default?: string;
	description: string;
}

function readSetting(
	env: Record<string, string | undefined>,
	name: string,
	setting: Setting
): { value: unknown } | { problem: string } {
	// Compose files and service units omit a variable by setting it to nothing.
	const text = env[name] === '' ? undefined : env[name];
	if (text === undefined && setting.default === undefined && !setting.schema.safeParse(undefined).success) {
		return { problem: `${name}: is required.` };
	}
	const result = setting.schema.safeParse(text ?? setting.default);
	if (result.success) return { value: result.data };
	return { problem: `${name}: ${result.error.issues[0]?.message ?? 'is not valid.'}` };
}

/** Reads all settings. Problems are sentences that begin with the variable's name. */
export function readSettings(
	env: Record<string, string | undefined>,
	settings: Readonly<Record<string, Setting>>
): { values: Record<string, unknown>; problems: string[] } {
	const values: Record<string, unknown> = {};
	const problems: string[] = [];
	for (const [name, setting] of Object.entries(settings)) {
		const read = readSetting(env, name, setting);
		if ('value' in read) values[name] = read.value;
		else problems.push(read.problem);
	}
	return { values, problems };
}

export function formatSettingsTable(settings: Readonly<Record<string, Setting>>): string {
	const rows = Object.entries(settings).map(
		([name, setting]) =>
			`| \`${name}\` | ${setting.default === undefined ? '' : `\`${setting.default}\``} | ${setting.description} |`
	);
	return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

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
