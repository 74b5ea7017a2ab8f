/**
 * `npm run bench:web`: time until the price is visible on a slow phone and link. Chromium with an empty cache,
 * 400 kbit/s, 400 ms per round trip and a CPU four times slower; the pages and a bare form take turns (median,
 * smallest and largest). DevTools throttling models neither TCP slow start nor TLS, so the bytes of the first response
 * are printed too. Chromium accepts Brotli from localhost, as over https; over http phones accept only gzip.
 *
 * Options: --runs N, --trace FILE (a DevTools trace of one run). Run `npm run build` first.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { chromium, type Browser } from '@playwright/test';
import { handOver } from '../support/gateways/hand-over.ts';
import { ensureBrowser } from '../support/runner/browser.js';
import { firstAnswer } from '../support/pages/first-answer.ts';
import { startServer } from '../support/server/server.ts';
import { startBareForm } from './bare-form.ts';

const GOAL_MS = 750;
/** Set on a machine where the bare form took 660 ms. */
const GOAL_RATIO = GOAL_MS / 660;
const LINK = {
	offline: false,
	latency: 400,
	downloadThroughput: 400_000 / 8,
	uploadThroughput: 400_000 / 8
};
const CPU_SLOWDOWN = 4;
const PHONE = { width: 360, height: 640 };

const { values } = parseArgs({
	options: { runs: { type: 'string', default: '9' }, trace: { type: 'string' } }
});
const runs = Number(values.runs);

/** Marks the first text with a price before it is painted, so that the browser records when it becomes visible. */
const WATCH = `
	const marking = new MutationObserver(() => {
		const texts = [...document.querySelectorAll('dd, b, p')];
		const price = texts.find(({ textContent: text }) => /[A-Z]{3}.?[0-9]/.test(text));
		if (!price) return;
		price.setAttribute('elementtiming', 'price');
		marking.disconnect();
	});
	marking.observe(document, { childList: true, subtree: true });
	new PerformanceObserver((list) => (window.priceAt ??= list.getEntries()[0].renderTime)).observe({
		type: 'element',
		buffered: true
	});
`;

interface Times {
	/** Milliseconds from the click to the price on the screen. */
	price: number;
	/** To the first paint of anything, and to that of the largest thing. */
	first: number;
	largest: number;
	/** To the end of all loading. */
	loaded: number;
}

async function visit(browser: Browser, url: string): Promise<Times> {
	const context = await browser.newContext({ viewport: PHONE, deviceScaleFactor: 2, isMobile: true });
	try {
		const page = await context.newPage();
		const devtools = await context.newCDPSession(page);
		await devtools.send('Network.enable');
		await devtools.send('Network.emulateNetworkConditions', LINK);
		await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
		await page.addInitScript(WATCH);
		await page.goto(url, { waitUntil: 'networkidle' });
		return await page.evaluate(async () => {
			const largest = await new Promise<number>((resolve) => {
				new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({
					type: 'largest-contentful-paint',
					buffered: true
				});
			});
			const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
			return {
				price: Number(Reflect.get(window, 'priceAt')),
				first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
				largest,
				loaded: navigation?.loadEventEnd ?? 0
			};
		});
	} finally {
		await context.close();
	}
}

const server = await startServer();
const bare = await startBareForm();
const PAGES = [
	{ name: 'a bare form', url: bare.url },
	{ name: '/r/3', url: `${server.url}/r/3` },
	{ name: '/splash/…', url: server.url + (await handOver(server)) }
].map((page) => ({ ...page, seen: new Array<Times>() }));
const browser = await chromium.launch({
	executablePath: await ensureBrowser(),
	args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
});
try {
	// Warm-up, not counted.
	for (let run = 0; run <= runs; run += 1) {
		for (const { url, seen } of PAGES) {
			if (values.trace && run === runs) await browser.startTracing(undefined, { screenshots: true });
			const times = await visit(browser, url);
			if (values.trace && run === runs) writeFileSync(values.trace, await browser.stopTracing());
			if (run > 0) seen.push(times);
		}
	}
	console.log(
		`Medians of ${runs} cold visits, ms (smallest–largest); 400 kbit/s, 400 ms, CPU/${CPU_SLOWDOWN}. Goal for ` +
			`the price: ${GOAL_MS}, or ${GOAL_RATIO.toFixed(2)} of a bare form.\n`
	);
	const bareMs = median(PAGES[0]?.seen.map(({ price }) => price) ?? []);
	for (const { name, url, seen } of PAGES) {
		const [{ bytes }, overHttp] = [await firstAnswer(url), await firstAnswer(url, 'en', 'gzip, deflate')];
		const ratio = median(seen.map(({ price }) => price)) / bareMs;
		console.log(
			`${name}: ${bytes} bytes (${overHttp.bytes} over http), price after ${ratio.toFixed(2)} of the bare form's`
		);
		for (const time of ['price', 'first', 'largest', 'loaded'] as const) {
			console.log(`  ${time.padEnd(8)} ${spread(seen.map((one) => one[time]))}`);
		}
	}
} finally {
	await browser.close();
	await Promise.all([server.stop(), bare.stop()]);
}

function sortedOf(numbers: number[]): number[] {
	return numbers.map(Math.round).sort((one, other) => one - other);
}

function median(numbers: number[]): number {
	return sortedOf(numbers)[Math.floor(numbers.length / 2)] ?? NaN;
}

function spread(numbers: number[]): string {
	const sorted = sortedOf(numbers);
	return `${median(numbers)} (${sorted[0]}–${sorted.at(-1)})`;
}
