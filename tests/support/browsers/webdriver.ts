/**
 * WebKitGTK through its WebDriver: a client of the few calls of https://www.w3.org/TR/webdriver2/ that the tests
 * need. The browser draws on a screen of its own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findWebKit, MISSING } from '../runner/engines.js';
import { freePort } from '../server/ports.ts';
import type { Window, WindowOptions } from './window.ts';

const startLimitMs = 30_000;
const startPollMs = 50;
const callLimitMs = 60_000;
const stopLimitMs = 5_000;

/** Keys as WebDriver writes them (section 17.4.2). */
const KEYS = { Enter: '\uE007', Space: ' ' } as const;
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
		const window = windowOf(base, stop);
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

function windowOf(base: string, stop: () => Promise<void>): Window {
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
		press: (selector, key) => keys(selector, KEYS[key]),
		picture: async () => Buffer.from(String(await call(base, 'GET', '/screenshot')), 'base64'),
		async close() {
			await call(base, 'DELETE', '').catch(() => undefined);
			await stop();
		}
	};
}
