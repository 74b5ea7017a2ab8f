/**
 * `npm run bench:web`: how long somebody with a slow phone on a slow link waits for the price. Chromium, cold, with
 * 400 kbit/s, 400 ms per round trip and a processor four times slower; each page several times in turn, medians and
 * in brackets the smallest and largest value. What DevTools throttles knows neither TCP's slow start nor TLS, so the
 * bytes of the first answer stand beside it.
 *
 * Options: --runs N, --trace FILE (a DevTools trace of one run). It measures the build that is there: `npm run build`
 * first.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { chromium, type Browser } from '@playwright/test';
import { handOver } from '../support/hand-over.ts';
import { ensureBrowser } from '../support/browser.js';
import { firstAnswer } from '../support/first-answer.ts';
import { startServer } from '../support/server.ts';

const GOAL_MS = 750;
/** A bare SvelteKit form with its CSS inlined, on the same link: what cannot be saved. */
const BARE_MS = 660;
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

/** Notes when text with a price has a place on the screen: the frame after that shows it. */
const WATCH = `
	(function look() {
		const text = document.body && document.body.innerText;
		if (text && /[A-Z]{3}.?[0-9]/.test(text)) {
			requestAnimationFrame((now) => setTimeout(() => (window.priceAt = performance.now())));
		} else {
			requestAnimationFrame(look);
		}
	})();
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
const PATHS = ['/r/3', await handOver(server)];
const browser = await chromium.launch({
	executablePath: await ensureBrowser(),
	args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
});
try {
	const seen = new Map<string, Times[]>(PATHS.map((path) => [path, []]));
	// The first visit warms the server and the browser's own start; it does not count.
	for (let run = 0; run <= runs; run += 1) {
		for (const path of PATHS) {
			if (values.trace && run === runs) await browser.startTracing(undefined, { screenshots: true });
			const times = await visit(browser, server.url + path);
			if (values.trace && run === runs) writeFileSync(values.trace, await browser.stopTracing());
			if (run > 0) seen.get(path)?.push(times);
		}
	}
	console.log(
		`Medians of ${runs} cold visits, ms (smallest–largest); 400 kbit/s, 400 ms, CPU/${CPU_SLOWDOWN}. ` +
			`Goal for the price: ${GOAL_MS}; a bare form: ${BARE_MS}.\n`
	);
	for (const path of PATHS) {
		const { bytes } = await firstAnswer(server.url + path);
		const times = seen.get(path) ?? [];
		const column = (name: keyof Times) => spread(times.map((one) => one[name]));
		console.log(`${path}: ${bytes} bytes`);
		for (const name of ['price', 'first', 'largest', 'loaded'] as const)
			console.log(`  ${name.padEnd(8)} ${column(name)}`);
	}
} finally {
	await browser.close();
	await server.stop();
}

function spread(numbers: number[]): string {
	const sorted = numbers.map(Math.round).sort((one, other) => one - other);
	return `${sorted[Math.floor(sorted.length / 2)]} (${sorted[0]}–${sorted.at(-1)})`;
}
