import { chromium } from '@playwright/test';
import { MISSING, ensureBrowser, findFirefox, findWebKit } from '../programs.js';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { freePort } from '../server/ports.ts';

/**
 * One browser window, independent of its driver: the actions of a person, and reading the page. All work with the
 * page's script switched off, too, because a driver's own script is not the page's.
 */
export interface Window {
	open(url: string): Promise<void>;
	reload(): Promise<void>;
	back(): Promise<void>;
	url(): Promise<string>;
	/** Types into a field. */
	type(selector: string, text: string): Promise<void>;
	/** Focuses an element and presses Enter, or Space. */
	press(selector: string, key: 'Enter' | 'Space'): Promise<void>;
	/** Value of a JavaScript expression in the page; it must be JSON. */
	read(expression: string): Promise<unknown>;
	/** The visible part of the page as PNG. */
	picture(): Promise<Buffer>;
	close(): Promise<void>;
}

export interface WindowOptions {
	/** Whether the page's own script runs. */
	script: boolean;
	/** Of the page, in CSS pixels. */
	width: number;
	height: number;
}

/** The Chromium that the whole browser suite runs in, through Playwright. */

export async function openChromium({ script, width, height }: WindowOptions): Promise<Window> {
	const browser = await chromium.launch({ executablePath: await ensureBrowser() });
	const page = await browser.newPage({ viewport: { width, height }, javaScriptEnabled: script });
	return {
		async open(url) {
			await page.goto(url);
		},
		async reload() {
			await page.reload();
		},
		async back() {
			await page.goBack();
		},
		url: async () => page.url(),
		async type(selector, text) {
			await page.locator(selector).first().pressSequentially(text);
		},
		press: (selector, key) => page.locator(selector).first().press(key),
		read: (expression) => page.evaluate(expression),
		picture: () => page.screenshot(),
		close: () => browser.close()
	};
}

/** Firefox through WebDriver BiDi, which it speaks itself (https://w3c.github.io/webdriver-bidi/). */

const limitMs = 60_000;
const lookAgainMs = 10;

/** Keys as WebDriver writes them (https://www.w3.org/TR/webdriver2/, section 17.4.2). */
const KEYS = { Enter: '\uE007', Space: ' ' } as const;
const LOADED = "performance.getEntriesByType('navigation')[0]?.loadEventEnd > 0";

type Send = (method: string, params: object) => Promise<Record<string, unknown>>;

/** Opens a window of Firefox, in a profile of its own. */
export async function openFirefox({ script, width, height }: WindowOptions): Promise<Window> {
	const program = findFirefox();
	if (!program) throw new Error(`This ${MISSING.firefox}`);
	const profile = mkdtempSync(path.join(tmpdir(), 'airtill-firefox-'));
	writeFileSync(path.join(profile, 'user.js'), `user_pref('javascript.enabled', ${script});\n`);
	const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
	const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
	const killed = () => child.kill('SIGKILL');
	process.on('exit', killed);
	const gone = once(child, 'exit');
	const close = async () => {
		child.kill('SIGTERM');
		await gone;
		process.off('exit', killed);
		rmSync(profile, { recursive: true, force: true });
	};
	try {
		for await (const line of createInterface({ input: child.stderr })) {
			const [, url] = /^WebDriver BiDi listening on (ws:\S+)$/.exec(line) ?? [];
			if (url === undefined) continue;
			child.stderr.resume();
			return await openFirefoxWindow(await connect(`${url}/session`), { width, height }, close);
		}
		throw new Error('Firefox has ended');
	} catch (error) {
		await close();
		throw error;
	}
}

async function connect(url: string): Promise<Send> {
	const socket = new WebSocket(url);
	const waiting = new Map<unknown, (message: Record<string, unknown>) => void>();
	socket.addEventListener('message', ({ data }) => {
		const message = JSON.parse(String(data)) as Record<string, unknown>;
		waiting.get(message['id'])?.(message);
		waiting.delete(message['id']);
	});
	await once(socket, 'open', { signal: AbortSignal.timeout(limitMs) });
	let count = 0;
	return async (method, params) => {
		const id = (count += 1);
		const answer = new Promise<Record<string, unknown>>((resolve) => waiting.set(id, resolve));
		socket.send(JSON.stringify({ id, method, params }));
		const limit = sleep(limitMs, { message: `no answer within ${limitMs} ms` }, { ref: false });
		const { type, result, message } = (await Promise.race([answer, limit])) as Record<string, unknown>;
		if (type !== 'success') throw new Error(`${method}: ${String(message)}`);
		return result as Record<string, unknown>;
	};
}

async function openFirefoxWindow(
	send: Send,
	viewport: { width: number; height: number },
	close: () => Promise<void>
): Promise<Window> {
	await send('session.new', { capabilities: {} });
	const { context } = await send('browsingContext.create', { type: 'tab' });
	await send('browsingContext.setViewport', { context, viewport });
	const read = async (expression: string): Promise<unknown> => {
		const target = { context };
		const script = `JSON.stringify(${expression})`;
		const answer = await send('script.evaluate', { expression: script, target, awaitPromise: false });
		if (answer['type'] !== 'success') throw new Error(JSON.stringify(answer['exceptionDetails']));
		const { value } = answer['result'] as { value?: string };
		return value === undefined ? undefined : JSON.parse(value);
	};
	const keys = async (selector: string, text: string) => {
		await read(`void document.querySelector(${JSON.stringify(selector)}).focus()`);
		const actions = [...text].flatMap((value) => [
			{ type: 'keyDown', value },
			{ type: 'keyUp', value }
		]);
		await send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
	};
	return {
		read,
		async open(url) {
			await send('browsingContext.navigate', { context, url, wait: 'complete' });
			// An address that is opened before the end of the load event replaces this one in the history.
			while (!(await read(LOADED))) await sleep(lookAgainMs);
		},
		async reload() {
			await send('browsingContext.reload', { context, wait: 'complete' });
		},
		async back() {
			await send('browsingContext.traverseHistory', { context, delta: -1 });
		},
		url: async () => String(await read('location.href')),
		type: keys,
		press: (selector, key) => keys(selector, KEYS[key]),
		async picture() {
			const { data } = await send('browsingContext.captureScreenshot', { context });
			return Buffer.from(String(data), 'base64');
		},
		close
	};
}

/**
 * WebKitGTK through its WebDriver: a client of the few calls of https://www.w3.org/TR/webdriver2/ that the tests
 * need. The browser draws on a screen of its own.
 */

const startLimitMs = 30_000;
const startPollMs = 50;
const callLimitMs = 60_000;
const stopLimitMs = 5_000;

/** Keys as WebDriver writes them (section 17.4.2). */
const WEBDRIVER_KEYS = { Enter: '\uE007', Space: ' ' } as const;
/** The member that marks an element in an answer (section 12.1). */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

const running = new Set<ChildProcess>();
process.on('exit', () => {
	for (const child of running) child.kill('SIGKILL');
});

function start(command: string, args: string[], display?: string): ChildProcess {
	const child = spawn(command, args, {
		// The fourth stream is where Xvfb writes the number of its screen.
		stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
		env: { ...process.env, ...(display === undefined ? {} : { DISPLAY: display }) }
	});
	running.add(child);
	child.once('exit', () => running.delete(child));
	return child;
}

async function end(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const gone = once(child, 'exit');
	child.kill('SIGTERM');
	const limit = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
	await gone;
	clearTimeout(limit);
}

/** A screen of its own, by the name that X programs know it by. */
async function startScreen(program: string): Promise<{ child: ChildProcess; display: string }> {
	const child = start(program, ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp']);
	const [number] = (await once(child.stdio[3] as Readable, 'data', {
		signal: AbortSignal.timeout(startLimitMs)
	})) as [Buffer];
	return { child, display: `:${number.toString().trim()}` };
}

async function call(base: string, method: string, path: string, body?: object): Promise<unknown> {
	const response = await fetch(base + path, {
		method,
		signal: AbortSignal.timeout(callLimitMs),
		...(body === undefined ? {} : { body: JSON.stringify(body) })
	});
	const { value } = (await response.json()) as { value: unknown };
	if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
	return value;
}

async function untilReady(base: string): Promise<void> {
	const deadline = performance.now() + startLimitMs;
	for (;;) {
		try {
			await call(base, 'GET', '/status');
			return;
		} catch (error) {
			if (performance.now() > deadline) throw error;
			await sleep(startPollMs);
		}
	}
}

/** Opens a window of WebKitGTK, in a browser without a past. */
export async function openWebKit({ script, width, height }: WindowOptions): Promise<Window> {
	const found = findWebKit();
	if (!found) throw new Error(`This ${MISSING.webkit}`);
	const screen = await startScreen(found.screen);
	const port = await freePort();
	const driver = start(found.driver, [`--port=${port}`], screen.display);
	const stop = async () => {
		await end(driver);
		await end(screen.child);
	};
	try {
		const server = `http://127.0.0.1:${port}`;
		await untilReady(server);
		const { sessionId } = (await call(server, 'POST', '/session', {
			capabilities: {
				alwaysMatch: {
					'webkitgtk:browserOptions': {
						binary: found.browser,
						args: ['--automation', `--enable-javascript=${script}`]
					}
				}
			}
		})) as { sessionId: string };
		const base = `${server}/session/${sessionId}`;
		const window = openWebKitWindow(base, stop);
		await fit(base, window, width, height);
		return window;
	} catch (error) {
		await stop();
		throw error;
	}
}

/** The browser's own bars are a part of the window: the page gets what is left. */
async function fit(base: string, window: Window, width: number, height: number): Promise<void> {
	await call(base, 'POST', '/window/rect', { width, height });
	const [innerWidth, innerHeight] = (await window.read('[innerWidth, innerHeight]')) as [number, number];
	await call(base, 'POST', '/window/rect', {
		width: 2 * width - innerWidth,
		height: 2 * height - innerHeight
	});
}

function openWebKitWindow(base: string, stop: () => Promise<void>): Window {
	const find = async (selector: string): Promise<string> => {
		const element = await call(base, 'POST', '/element', { using: 'css selector', value: selector });
		return `/element/${(element as Record<string, string>)[ELEMENT]}`;
	};
	const keys = async (selector: string, text: string) => {
		await call(base, 'POST', `${await find(selector)}/value`, { text });
	};
	const read = (expression: string) =>
		call(base, 'POST', '/execute/sync', { script: `return ${expression}`, args: [] });
	return {
		read,
		async open(url) {
			await call(base, 'POST', '/url', { url });
		},
		async reload() {
			await call(base, 'POST', '/refresh', {});
		},
		async back() {
			await call(base, 'POST', '/back', {});
		},
		url: async () => String(await call(base, 'GET', '/url')),
		type: keys,
		press: (selector, key) => keys(selector, WEBDRIVER_KEYS[key]),
		picture: async () => Buffer.from(String(await call(base, 'GET', '/screenshot')), 'base64'),
		async close() {
			await call(base, 'DELETE', '').catch(() => undefined);
			await stop();
		}
	};
}
