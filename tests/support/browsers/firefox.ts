/** Firefox through WebDriver BiDi, which it speaks itself (https://w3c.github.io/webdriver-bidi/). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFirefox, MISSING } from '../runner/engines.js';
import type { Window, WindowOptions } from './window.ts';

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
			return await windowOf(await connect(`${url}/session`), { width, height }, close);
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

async function windowOf(
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
