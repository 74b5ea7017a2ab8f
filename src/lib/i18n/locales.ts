export const LOCALES = ['en', 'fr', 'sw', 'pt', 'ar', 'rw', 'lg', 'am'] as const;

export type Locale = (typeof LOCALES)[number];

export const LANGUAGE_NAMES: Readonly<Record<Locale, string>> = {
	en: 'English',
	fr: 'Français',
	sw: 'Kiswahili',
	pt: 'Português',
	ar: 'العربية',
	rw: 'Ikinyarwanda',
	lg: 'Luganda',
	am: 'አማርኛ'
};

export const isLocale = (text: string): text is Locale => (LOCALES as readonly string[]).includes(text);

export const directionOf = (locale: Locale): 'ltr' | 'rtl' => (locale === 'ar' ? 'rtl' : 'ltr');
