import { isLocale, type Locale } from '../i18n/locales.ts';
import { inLanguage, splitLanguage } from '../i18n/path.ts';

/**
 * How one kiosk is set, in its start address (`/kiosk/3?idle=90&print`): the address is all that the tablet keeps,
 * so that nothing has to be stored on it and two kiosks of one router may differ.
 */
export interface KioskOptions {
	/** Seconds without a touch after which a screen is wiped. */
	idleSeconds: number;
	/** A printer is connected: receipts are offered. */
	prints: boolean;
	/** The language that the kiosk goes back to, or `auto`: the tablet's own; null: it stands there now. */
	home: string | null;
}

const AUTO = 'auto';

/** A warning of 20 s must fit in (WCAG 2.2, 2.2.1), and a forgotten screen must not stand for long. */
export const IDLE_SECONDS = { min: 30, usual: 60, max: 10 * 60 } as const;

/** Reads the options of an address; what cannot be used is as if it was not there, or the nearest that can. */
export function kioskOptions(search: URLSearchParams): KioskOptions {
	const asked = search.get('idle') ?? '';
	const seconds = /^\d{1,6}$/.test(asked) ? Number(asked) : IDLE_SECONDS.usual;
	const home = search.get('home') ?? '';
	return {
		idleSeconds: Math.min(Math.max(seconds, IDLE_SECONDS.min), IDLE_SECONDS.max),
		prints: search.has('print'),
		home: /^([a-z]{2}|auto)$/.test(home) ? home : null
	};
}

/** The kiosk in another language; it remembers which one it goes back to. */
export function inKioskLanguage(locale: Locale, pathname: string, options: KioskOptions): string {
	const { locale: named, path } = splitLanguage(pathname);
	const home = options.home ?? named ?? AUTO;
	return inLanguage(locale, path) + kioskSearch({ ...options, home: home === locale ? null : home });
}

/** Where the kiosk begins; null where it stands there. */
export function kioskHome(pathname: string, options: KioskOptions): string | null {
	const { locale: named, path } = splitLanguage(pathname);
	const { home } = options;
	if (home === null || home === (named ?? AUTO)) return null;
	return (isLocale(home) ? inLanguage(home, path) : path) + kioskSearch({ ...options, home: null });
}

/** The same as the query of an address: `?idle=60`. */
export function kioskSearch({ idleSeconds, prints, home }: KioskOptions): string {
	return `?idle=${idleSeconds}${prints ? '&print' : ''}${home === null ? '' : `&home=${home}`}`;
}
