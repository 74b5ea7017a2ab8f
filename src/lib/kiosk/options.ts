import { isLocale, type Locale } from '../i18n/locales.ts';
import { inLanguage, splitLanguage } from '../i18n/path.ts';

/** Settings in a kiosk's start address (`/kiosk/3?idle=90`). The tablet stores nothing else. */
interface KioskOptions {
	idleSeconds: number;
	/** The language to return to, or `auto` for the tablet's; null if the kiosk is in that language. */
	home: string | null;
}

const AUTO = 'auto';

/** Long enough for the 20 s warning (WCAG 2.2, 2.2.1); short enough to clear an abandoned screen. */
export const IDLE_SECONDS = { min: 30, usual: 60, max: 10 * 60 } as const;

/** Reads the options of an address. An invalid value becomes the default or the nearest valid one. */
export function kioskOptions(search: URLSearchParams): KioskOptions {
	const asked = search.get('idle') ?? '';
	const seconds = /^\d{1,6}$/.test(asked) ? Number(asked) : IDLE_SECONDS.usual;
	const home = search.get('home') ?? '';
	return {
		idleSeconds: Math.min(Math.max(seconds, IDLE_SECONDS.min), IDLE_SECONDS.max),
		home: /^([a-z]{2}|auto)$/.test(home) ? home : null
	};
}

/** Returns the kiosk's address in another language; keeps the language to return to. */
export function inKioskLanguage(locale: Locale, pathname: string, options: KioskOptions): string {
	const { locale: named, path } = splitLanguage(pathname);
	const home = options.home ?? named ?? AUTO;
	return inLanguage(locale, path) + kioskSearch({ ...options, home: home === locale ? null : home });
}

/** Returns the kiosk's start address, or null if this is it. */
export function kioskHome(pathname: string, options: KioskOptions): string | null {
	const { locale: named, path } = splitLanguage(pathname);
	const { home } = options;
	if (home === null || home === (named ?? AUTO)) return null;
	return (isLocale(home) ? inLanguage(home, path) : path) + kioskSearch({ ...options, home: null });
}

export const kioskSearch = ({ idleSeconds, home }: KioskOptions): string =>
	`?idle=${idleSeconds}${home === null ? '' : `&home=${home}`}`;
