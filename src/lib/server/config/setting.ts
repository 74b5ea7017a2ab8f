import type { z } from 'zod';

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

export function settingsTable(settings: Readonly<Record<string, Setting>>): string {
	const rows = Object.entries(settings).map(
		([name, setting]) =>
			`| \`${name}\` | ${setting.default === undefined ? '' : `\`${setting.default}\``} | ${setting.description} |`
	);
	return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}
