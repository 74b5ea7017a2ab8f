import { currentLocale } from '#lib/i18n/current.ts';
import { overwriteGetLocale } from '#lib/i18n/generated/runtime.js';

// The server chose the language: by the address, or else by Accept-Language.
overwriteGetLocale(currentLocale);
