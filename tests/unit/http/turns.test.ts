import { describe, expect, it } from 'vitest';
import { setImmediate as turn } from 'node:timers/promises';
import { createTurns, waitOutside, type Limits } from '#lib/server/http/turns.ts';

const LIMITS: Limits = { ofNetwork: 2, ofAll: 4, waitingOfNetwork: 6, waitingOfAll: 12, longestMs: 60_000 };

interface Source {
	isFirst?: boolean;
	hidesMany?: boolean;
	work?: () => Promise<void>;
}

/** Arrivals that log what happens to them, by name. A request is at work until it leaves. */
function useTurns(limits: Partial<Limits> = {}) {
	const turns = createTurns({ ...LIMITS, ...limits });
	const begun: string[] = [];
	const refused: string[] = [];
	const visits = new Map<string, () => void>();
	/** @param path such as 'A guest 1': the network, then its parts. Its last word is the request's own. */
	function arrive(name: string, { isFirst = false, hidesMany = false, work }: Source = {}): void {
		const parts = name.split(' ');
		const { leave } = turns.arrive({
			path: [parts[0] ?? '', ...parts.slice(1, -1)],
			isFirst,
			hidesMany,
			start() {
				begun.push(name);
				void work?.().then(() => begun.push(`${name} goes on`));
			},
			refuse: () => refused.push(name)
		});
		visits.set(name, leave);
	}
	const leave = (name: string): void => visits.get(name)?.();
	/** Lets everybody begin who may, and each leave at once, until nobody is left. */
	async function workOff(): Promise<void> {
		for (let left = visits.size * 2; left > 0; left -= 1) {
			for (const name of begun) leave(name);
			await turn();
		}
	}
	return { arrive, leave, workOff, begun, refused };
}

const numbered = (name: string, most: number): string[] =>
	Array.from({ length: most }, (_, index) => `${name} ${index + 1}`);

async function turnsOf(count: number): Promise<void> {
	for (let left = count; left > 0; left -= 1) await turn();
}

describe('turns', () => {
	it('a lone request begins at once; others begin after what has arrived meanwhile was read', async () => {
		const { arrive, begun } = useTurns();
		arrive('A 1');
		arrive('A 2');
		arrive('B 1');
		expect(begun).toEqual(['A 1']);
		await turn();
		expect(begun).toHaveLength(2);
		await turn();
		expect(begun).toHaveLength(3);
	});

	it('networks take turns, however many requests each has', async () => {
		const { arrive, begun, workOff } = useTurns({ ofNetwork: 1 });
		for (const name of [...numbered('A', 6), ...numbered('B', 2), 'C 1']) arrive(name);
		await workOff();
		expect(begun).toEqual(['A 1', 'A 2', 'B 1', 'C 1', 'A 3', 'B 2', 'A 4', 'A 5', 'A 6']);
	});

	it('within a network its devices take turns, and within a device its connections', async () => {
		const { arrive, begun, workOff } = useTurns({ ofNetwork: 1 });
		arrive('A 0');
		for (const name of ['A x one 1', 'A x one 2', 'A x two 1', 'A y one 1', 'A y one 2']) arrive(name);
		await workOff();
		expect(begun).toEqual(['A 0', 'A x one 1', 'A y one 1', 'A x two 1', 'A y one 2', 'A x one 2']);
	});

	it('a network has so many requests at work, and all together so many; whoever leaves makes room', async () => {
		const { arrive, begun, leave } = useTurns();
		for (const name of [...numbered('A', 4), ...numbered('B', 4), 'C 1']) arrive(name);
		await turnsOf(20);
		expect(begun).toEqual(['A 1', 'A 2', 'B 1', 'C 1']);
		leave('B 1');
		await turnsOf(20);
		expect(begun.slice(4)).toEqual(['B 2']);
		leave('A 1');
		await turnsOf(20);
		expect(begun.slice(5)).toEqual(['A 3']);
	});

	it('a proxy that hides many has the room of all', async () => {
		const { arrive, begun } = useTurns();
		for (const name of numbered('P one', 6)) arrive(name, { hidesMany: true });
		await turnsOf(20);
		expect(begun).toHaveLength(LIMITS.ofAll);
	});

	it('purchases begin first, also of the same network, and every fourth turn is another page’s', async () => {
		const { arrive, begun, workOff } = useTurns({ ofNetwork: 1 });
		arrive('A 0');
		for (const name of numbered('A page', 3)) arrive(name);
		for (const name of numbered('A buy', 5)) arrive(name, { isFirst: true });
		await workOff();
		const buys = (from: number, to: number) => numbered('A buy', to).slice(from - 1);
		expect(begun).toEqual(['A 0', ...buys(1, 3), 'A page 1', ...buys(4, 5), 'A page 2', 'A page 3']);
	});

	it('too many that wait are refused: the newest of whoever has most, never one of another', async () => {
		const { arrive, refused, begun, workOff } = useTurns({ waitingOfAll: 10 });
		for (const name of numbered('A x', 9)) arrive(name);
		expect(refused).toEqual(['A x 8', 'A x 9']);
		// A neighbour in the same network takes a place of the one with most.
		arrive('A y 1');
		expect(refused.slice(2)).toEqual(['A x 7']);
		for (const name of [...numbered('B', 3), ...numbered('C', 3)]) arrive(name);
		expect(refused.slice(3)).toEqual(['A x 6', 'A x 5']);
		await workOff();
		expect(begun.filter((name) => /^([BC]|A y)/.test(name))).toHaveLength(7);
	});

	it('whoever has gone is not begun, and leaves its room in the line to another', async () => {
		const { arrive, leave, refused, begun, workOff } = useTurns();
		for (const name of numbered('A', 7)) arrive(name);
		leave('A 4');
		arrive('A 8');
		await workOff();
		expect(refused).toEqual([]);
		expect(begun).toEqual(['A 1', 'A 2', 'A 3', 'A 5', 'A 6', 'A 7', 'A 8']);
	});

	it('what waits for something else has no place meanwhile, and takes a turn before it goes on', async () => {
		const { arrive, leave, begun } = useTurns();
		const bodies: (() => void)[] = [];
		const body = () => new Promise<void>((resolve) => bodies.push(resolve));
		for (const name of numbered('A', 5)) arrive(name, { work: () => waitOutside(body()) });
		await turnsOf(20);
		expect(begun).toEqual(numbered('A', 5));
		// All bodies are there: no more than two go on at a time.
		for (const resolve of bodies) resolve();
		await turnsOf(20);
		expect(begun.slice(5)).toEqual(['A 1 goes on', 'A 2 goes on']);
		leave('A 1');
		await turnsOf(20);
		expect(begun.slice(7)).toEqual(['A 3 goes on']);
		// An order whose buyer has gone is completed.
		leave('A 5');
		leave('A 2');
		leave('A 3');
		await turnsOf(20);
		expect(begun.slice(8).sort()).toEqual(['A 4 goes on', 'A 5 goes on']);
	});

	it('a request that is at work for too long gives its place back', async () => {
		const { arrive, begun } = useTurns({ longestMs: 1 });
		for (const name of numbered('A', 4)) arrive(name);
		await expect.poll(() => begun).toEqual(numbered('A', 4));
	});
});
