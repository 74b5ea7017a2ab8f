/**
 * Takes out of a text what nobody may keep: API keys, webhook secrets, Wi-Fi passwords and phone numbers. For texts
 * that others write (messages of errors, answers of webhook receivers); our own never contain them.
 */
export function redact(text: string): string {
	return PATTERNS.reduce((redacted, [pattern, instead]) => redacted.replace(pattern, instead), text);
}

const PATTERNS: readonly [pattern: RegExp, instead: string][] = [
	[/\batl_(live|test)_[0-9A-Za-z]+/g, 'atl_$1_…'],
	[/\bwhsec_[0-9A-Za-z+/=_-]+/g, 'whsec_…'],
	[/(?<![a-z0-9])[a-hjkmnp-z2-9]{4}(?:-[a-hjkmnp-z2-9]{4}){2}(?![a-z0-9])/g, '****-****-****'],
	// Nine to fifteen digits (E.164 allows no more), however they are grouped.
	[/\+?(?<!\d)\d(?:[ ().-]{0,2}\d){8,14}(?!\d)/g, '…']
];
