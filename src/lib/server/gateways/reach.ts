import { execFile } from 'node:child_process';
import type { Clock } from '../platform/clock.ts';
import { createOperatorHttp, type OperatorHttp } from '../billing/operators/http.ts';
import type { Reach } from './gateway.ts';

const HTTP_TIMEOUT_MS = 10_000;
const PROGRAM_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** HTTP clients kept for gateways with their own certificate. The oldest is closed first. */
const MAX_CERTIFICATES = 200;

export function createReach(clock: Clock): Reach & { stop(): Promise<void> } {
	const http = createOperatorHttp({ timeoutMs: HTTP_TIMEOUT_MS });
	const pinned = new Map<string, OperatorHttp>();

	function clientFor(certificate: string): OperatorHttp {
		const known = pinned.get(certificate);
		if (known) return known;
		const [oldest] = pinned;
		if (oldest && pinned.size >= MAX_CERTIFICATES) {
			pinned.delete(oldest[0]);
			void oldest[1].stop();
		}
		const made = createOperatorHttp({ timeoutMs: HTTP_TIMEOUT_MS, certificate });
		pinned.set(certificate, made);
		return made;
	}

	return {
		send: (outgoing, certificate = null) =>
			(certificate === null ? http : clientFor(certificate)).send(outgoing),
		run: (program, args) =>
			new Promise((resolve) => {
				const limits = { timeout: PROGRAM_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
				execFile(program, args, limits, (error, stdout, stderr) => {
					const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
					resolve({ code, output: stdout + stderr });
				});
			}),
		now: () => clock.now(),
		async stop() {
			await Promise.all([http, ...pinned.values()].map((one) => one.stop()));
		}
	};
}
