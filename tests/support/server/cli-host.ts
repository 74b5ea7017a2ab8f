/**
 * The command line in a process that has loaded it: loading takes ten times as long as most commands. Each message is a
 * command with its environment, and is answered by its output and exit code (see cli.ts).
 */
import process from 'node:process';
import { main } from '../../../src/cli/main.ts';

const output = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
	process[name].write = (text: string | Uint8Array, ...rest: unknown[]) => {
		output[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
		const written = rest.at(-1);
		if (typeof written === 'function') written();
		return true;
	};
}

interface Message {
	args: string[];
	env: Record<string, string>;
	clockOffsetMs: number;
}

let offsetMs = Number(process.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);
// The next test's server may be behind this process, whose clock never runs backwards (createClock): only if the one
// that is never set, on which it relies, is set back by twice as much.
let setBackMs = 0;
const realNow = performance.now.bind(performance);
performance.now = () => realNow() - setBackMs;

process.on('message', async ({ args, env, clockOffsetMs }: Message) => {
	setBackMs += 2 * Math.max(0, offsetMs - clockOffsetMs);
	offsetMs = clockOffsetMs;
	process.env = env;
	Object.assign(output, { stdout: '', stderr: '' });
	const code = await main(args);
	process.send?.({ code, ...output });
});
// movable-clock.js has made the channel one that keeps no process alive.
process.channel?.ref();
