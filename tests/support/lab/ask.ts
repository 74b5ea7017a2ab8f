/** Requests from a machine of the lab. */
import type { ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Machine } from './namespaces.ts';

export interface Asked {
	/** 0 when nobody answered. */
	status: number;
	location: string;
	body: string;
}

const program = fileURLToPath(new URL('./asker.js', import.meta.url));

/** Processes that send the requests; they end with their machines. */
const askers = new WeakMap<Machine, ChildProcess>();
let requests = 0;

export async function request(machine: Machine, url: string): Promise<Asked> {
	const asker =
		askers.get(machine) ??
		machine.start(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
	askers.set(machine, asker);
	const id = (requests += 1);
	const answers = on(asker, 'message', { close: ['exit'] });
	asker.send({ id, url });
	for await (const [answer] of answers as AsyncIterable<[{ id: number; asked: Asked }]>) {
		if (answer.id === id) return answer.asked;
	}
	throw new Error(`The machine that asked for ${url} has ended`);
}
