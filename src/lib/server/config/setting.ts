import type { z } from 'zod';

/** An environment variable: its shape, default and meaning, as the README's table shows them. */
export interface Setting {
	schema: z.ZodType;
	/** As the README shows it; null when there is none. */
	default: string | null;
	description: string;
}

/** @returns the value, or a sentence about what is wrong with it */
export function readSetting(
	env: Record<string, string | undefined>,
	name: string,
	setting: Setting
): { value: unknown } | { problem: string } {
	// An empty variable is an unset one: that is how compose files and service units leave things out.
	const text = env[name] === '' ? undefined : env[name];
	if (text === undefined && setting.default === null && !setting.schema.safeParse(undefined).success) {
		return { problem: `${name}: is required.` };
	}
	const result = setting.schema.safeParse(text ?? setting.default ?? undefined);
	if (result.success) return { value: result.data };
	return { problem: `${name}: ${result.error.issues[0]?.message ?? 'is not valid.'}` };
}

/** A table of settings, as Markdown. */
export function settingsTable(settings: Readonly<Record<string, Setting>>): string {
	const rows = Object.entries(settings).map(
		([name, setting]) =>
			`| \`${name}\` | ${setting.default === null ? '' : `\`${setting.default}\``} | ${setting.description} |`
	);
	return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}
