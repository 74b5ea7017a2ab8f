import { formatDuration } from '#lib/domain/time.ts';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { currentLocale } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { PAID_DAYS, UNPAID_HOURS } from '#lib/server/gateways/captive-sessions.ts';
import type { PageServerLoad } from './$types';

const TITLES = { help: m.common_help, terms: m.common_terms, privacy: m.common_privacy } as const;

export const load: PageServerLoad = async ({ params: { site }, locals: { app } }) => ({
	site,
	title: TITLES[site](),
	text: await readOwnText(app.config.textsDir, site, currentLocale()),
	contacts: app.config.contacts,
	/** Lists the stored data with its retention. */
	kept: [
		[m.site_privacy_purchase(), m.site_privacy_no_limit()],
		[m.site_privacy_number(), formatDuration(`${app.config.keepDays.numbers}d`)],
		[m.site_privacy_device(), formatDuration(`${app.config.keepDays.devices}d`)],
		[
			m.site_privacy_visit(),
			m.site_privacy_visit_time({
				time: formatDuration(`${UNPAID_HOURS}h`),
				longer: formatDuration(`${PAID_DAYS}d`)
			})
		],
		[m.site_privacy_password(), m.site_privacy_password_time()]
	]
});

/** Reads the administrator's Markdown of a page, in the language if there is one. Returns null without any. */
async function readOwnText(dir: string | null, page: string, locale: string): Promise<string | null> {
	if (dir === null) return null;
	for (const name of [`${page}.${locale}.md`, `${page}.md`]) {
		try {
			return await readFile(path.join(dir, name), 'utf8');
		} catch (error) {
			if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
		}
	}
	return null;
}
