/** Lighthouse, run on one page in a Chromium of its own. */
import process from 'node:process';
import lighthouse from 'lighthouse';
import puppeteer from 'puppeteer-core';
import { ensureBrowser } from './browser.js';

export const CATEGORIES = ['accessibility', 'best-practices', 'seo'] as const;

export interface Judgement {
	/** 0 to 100. */
	scores: Record<(typeof CATEGORIES)[number], number>;
	/** What cost points: name and explanation. */
	blamed: string[];
}

/** Judges pages one after the other, on a screen like a phone's. Loading is not slowed: speed is measured elsewhere. */
export async function judge(urls: readonly string[]): Promise<Map<string, Judgement>> {
	const browser = await puppeteer.launch({
		browser: 'chrome',
		executablePath: await ensureBrowser(),
		headless: true,
		args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
	});
	try {
		const judged = new Map<string, Judgement>();
		for (const url of urls) judged.set(url, await judgeOne(url, Number(new URL(browser.wsEndpoint()).port)));
		return judged;
	} finally {
		await browser.close();
	}
}

async function judgeOne(url: string, port: number): Promise<Judgement> {
	const result = await lighthouse(url, {
		port,
		logLevel: 'error',
		onlyCategories: [...CATEGORIES],
		formFactor: 'mobile',
		throttlingMethod: 'provided',
		disableFullPageScreenshot: true
	});
	if (!result) throw new Error(`Lighthouse said nothing about ${url}`);
	const { categories, audits, runtimeError } = result.lhr;
	if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`);
	const scores = Object.fromEntries(
		CATEGORIES.map((name) => [name, Math.round((categories[name]?.score ?? 0) * 100)])
	) as Judgement['scores'];
	const counted = CATEGORIES.flatMap((name) => categories[name]?.auditRefs ?? []).filter(
		({ weight }) => weight > 0
	);
	const blamed = counted.flatMap(({ id }) => {
		const audit = audits[id];
		if (!audit || audit.score === null || audit.score === 1) return [];
		return [`${audit.title}: ${JSON.stringify(audit.details ?? audit.explanation ?? '').slice(0, 500)}`];
	});
	return { scores, blamed };
}
