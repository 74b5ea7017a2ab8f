import { AsyncLocalStorage } from 'node:async_hooks';
import { overwriteGetLocale } from '#lib/i18n/generated/runtime.js';
import { currentLocale, speakBy, type Spoken } from '#lib/i18n/current.ts';
import { isLocale, type Locale } from '#lib/i18n/locales.ts';
import { isEnglishOnly, splitLanguage } from '#lib/i18n/path.ts';

const running = new AsyncLocalStorage<Spoken>();

/** Lets everything that is written while a request is answered speak its language. Called once, at the start. */
export function speakByRequest(): void {
	speakBy(() => running.getStore());
	overwriteGetLocale(currentLocale);
}

export const inRequestLanguage = <T>(spoken: Spoken, work: () => T): T => running.run(spoken, work);

/**
 * The language of a request: the one in its address, else the best of `Accept-Language` (RFC 9110, section 12.5.4),
 * else English.
 */
export function languageOf(pathname: string, acceptLanguage: string | null): Spoken {
	if (isEnglishOnly(pathname)) return { locale: 'en', prefix: '' };
	const { locale, prefix } = splitLanguage(pathname);
	return { locale: locale ?? bestLanguage(acceptLanguage ?? ''), prefix };
}

const MAX_RANGES = 20;

/** `fr-CA, sw;q=0.8`: of the languages that are spoken here the most wanted one; a region does not matter. */
export function bestLanguage(acceptLanguage: string): Locale {
	const wanted = acceptLanguage
		.split(',', MAX_RANGES)
		.map((range) => {
			// Trimmed piece by piece: a pattern with white space on both sides takes a second for a header of blanks.
			const [tag = '', ...parameters] = range
				.toLowerCase()
				.split(';')
				.map((part) => part.trim());
			const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
			return { language: tag.split('-')[0] ?? '', weight: Number(weight) || 0 };
		})
		.filter(({ weight }) => weight > 0)
		// A stable sort: of equal ones the first.
		.sort((a, b) => b.weight - a.weight);
	for (const { language } of wanted) if (isLocale(language)) return language;
	return 'en';
}
