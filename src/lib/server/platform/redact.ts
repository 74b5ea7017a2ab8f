/** Redacts secrets and phone numbers in texts of others (errors, webhook responses); our own contain none. */
export function redact(text: string): string {
	return PATTERNS.reduce((redacted, [pattern, instead]) => redacted.replace(pattern, instead), text);
}

const BETWEEN = String.raw`(?:[^\S\n]|[().+/-]|%20){0,2}`;

const PATTERNS: readonly [pattern: RegExp, instead: string][] = [
	[/("[\w-]*(?:token|password|secret|authorization|cookie)"\s*:\s*")(?:[^"\\]|\\.)+/gi, '$1…'],
	[/(token=)[^&;\s"'<>]+/gi, '$1…'],
	[/atl_(live|test)_[0-9A-Za-z]+/g, 'atl_$1_…'],
	[/whsec_[\w+/=%&#;\\-]+/gi, 'whsec_…'],
	[/v1(?:,|%2c)[\w+/=%&#;\\-]{40,}/gi, 'v1,…'],
	[/(?<![a-z0-9])[a-hjkmnp-z2-9]{4}(?:-[a-hjkmnp-z2-9]{4}){2}(?![a-z0-9])/gi, '****-****-****'],
	// Phone numbers: nine to fifteen digits (the E.164 maximum), grouped in any way.
	[new RegExp(String.raw`\+?(?<!\d)\d(?:${BETWEEN}\d){8,14}(?!\d)`, 'g'), '…']
];
