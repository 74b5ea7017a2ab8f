import { execFile } from 'node:child_process';
import type { Clock } from '../clock.ts';
import { createOperatorHttp } from '../operators/http.ts';
import type { Reach } from './gateway.ts';

const HTTP_TIMEOUT_MS = 10_000;
const PROGRAM_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The ways out to gateways, see Reach. */
export function createReach(clock: Clock): Reach & { stop(): Promise<void> } {
	const http = createOperatorHttp({ timeoutMs: HTTP_TIMEOUT_MS });
	return {
		send: http.send,
		run: (program, args) =>
			new Promise((resolve) => {
				const limits = { timeout: PROGRAM_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
				execFile(program, args, limits, (error, stdout, stderr) => {
					const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
					resolve({ code, output: stdout + stderr });
				});
			}),
		now: () => clock.now(),
		stop: () => http.stop()
	};
}
