/** At the end of a history: everybody has what they are owed, by the operator's books and by what the API says. */
import { backOf, compare, finder, inReview, type Verdict } from '../torture/verdict.ts';
import { letTimePass } from '../torture/time.ts';
import { chargesOf, setClockRight, type Model, type Person, type Real } from './people.ts';

export interface Since {
	session: number;
	charge: number;
}

export async function startOf({ world, simulator }: Real): Promise<Since> {
	const session = await world.sql.count('select max(id) from sessions');
	return { session, charge: simulator.books.payments.length };
}

/** Everything works again, everybody decides, and the time passes in which all must come to its end. */
export async function comeToAnEnd(real: Real, { people }: Model): Promise<number> {
	const { simulator, world } = real;
	simulator.outage(null);
	await setClockRight(real);
	for (const [index, person] of people.entries()) {
		for (const charge of chargesOf(simulator, person)) {
			if (charge.script.outcome === 'pending') {
				const refusal = real.operator.failures[0] ?? '';
				await simulator.settle(charge, index % 2 === 0 ? 'success' : refusal);
			}
		}
	}
	return letTimePass(real, world.sql);
}

export async function judgeHistory(real: Real, model: Model, since: Since): Promise<Verdict> {
	const open = await comeToAnEnd(real, model);
	const verdict = await compare(real.simulator, real.operator, real.world.sql, since);
	if (open > 0) verdict.wrong.push(`${open} jobs about money never end`);
	for (const person of model.people) verdict.wrong.push(...(await owed(real, person)));
	return verdict;
}

/** What a person paid, less what came back, is the price of the time that the person got. */
async function owed({ world, simulator, operator }: Real, person: Person): Promise<string[]> {
	const wrong: string[] = [];
	const charges = chargesOf(simulator, person);
	const paid = charges.reduce((sum, charge) => sum + simulator.books.takenOf(charge), 0);
	const back = charges.reduce((sum, charge) => sum + backOf(simulator, charge), 0);
	const reviewed = await inReview(world.sql, operator);
	let bought = 0;
	/** Kept by the operator; a person has been asked what to do. */
	let open = 0;
	for (const { sessionId, amount, told, paymentIds } of person.orders) {
		const { status } = await world.api.getSession(sessionId);
		if (told !== null && status !== told) wrong.push(`session ${sessionId} was ${told} and is ${status}`);
		if (['active', 'expired', 'ended'].includes(status)) bought += amount;
		for (const id of paymentIds) {
			const payment = await world.api.getPayment(id);
			if (payment.status === 'pending') wrong.push(`payment ${id} is still pending`);
			if (!reviewed.has(id)) continue;
			const rowOf = finder(await world.sql.all('select * from payments where id = ?', id));
			const charge = charges.find((one) => rowOf(one) !== undefined);
			if (charge) open += simulator.books.takenOf(charge) - backOf(simulator, charge);
		}
	}
	if (paid - back !== bought + open) {
		wrong.push(`${person.phone} paid ${paid}, got ${back} back, time for ${bought}; ${open} is in review`);
	}
	return wrong;
}
