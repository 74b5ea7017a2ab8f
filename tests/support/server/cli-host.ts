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

process.on('message', async ({ args, env }: { args: string[]; env: Record<string, string> }) => {
	process.env = env;
	Object.assign(output, { stdout: '', stderr: '' });
	const code = await main(args);
	process.send?.({ code, ...output });
});
// movable-clock.js has made the channel one that keeps no process alive.
process.channel?.ref();
