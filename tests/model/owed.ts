/** At the end of a history: everybody has what they are owed, by the operator's books and by what the API says. */
import { backOf, compare, finder, inReview, type Verdict } from '../torture/verdict.ts';
import { letTimePass } from '../torture/time.ts';
import { chargesOf, setClockRight, type Model, type Buyer, type Real } from './buyers.ts';

interface Since {
	session: number;
	charge: number;
}

export async function startOf({ fixture, simulator }: Real): Promise<Since> {
	const session = await fixture.sql.count('select max(id) from sessions');
	return { session, charge: simulator.books.payments.length };
}

/** Everything works again, everybody decides, and the time passes in which all must come to its end. */
async function comeToAnEnd(real: Real, { buyers }: Model): Promise<number> {
	const { simulator, fixture } = real;
	simulator.outage(null);
	await setClockRight(real);
	for (const [index, buyer] of buyers.entries()) {
		for (const charge of chargesOf(simulator, buyer)) {
			if (charge.script.outcome === 'pending') {
				const refusal = real.operator.failures[0] ?? '';
				await simulator.settle(charge, index % 2 === 0 ? 'success' : refusal);
			}
		}
	}
	return letTimePass(real, fixture.sql);
}

export async function judgeHistory(real: Real, model: Model, since: Since): Promise<Verdict> {
	const open = await comeToAnEnd(real, model);
	const verdict = await compare(real.simulator, real.operator, real.fixture.sql, since);
	if (open > 0) verdict.wrong.push(`${open} jobs about money never end`);
	for (const buyer of model.buyers) verdict.wrong.push(...(await owed(real, buyer)));
	return verdict;
}

/** A buyer's payments, less refunds, are the price of the time that the buyer got. */
async function owed({ fixture, simulator, operator }: Real, buyer: Buyer): Promise<string[]> {
	const wrong: string[] = [];
	const charges = chargesOf(simulator, buyer);
	const paid = charges.reduce((sum, charge) => sum + simulator.books.takenOf(charge), 0);
	const back = charges.reduce((sum, charge) => sum + backOf(simulator, charge), 0);
	const reviewed = await inReview(fixture.sql, operator);
	let bought = 0;
	/** Kept by the operator; a buyer has been asked what to do. */
	let open = 0;
	for (const { sessionId, amount, deleted, paymentIds } of buyer.orders) {
		const { status } = await fixture.api.getSession(sessionId);
		if (deleted !== null && status !== deleted)
			wrong.push(`session ${sessionId} was ${deleted} and is ${status}`);
		if (['active', 'expired', 'ended'].includes(status)) bought += amount;
		for (const id of paymentIds) {
			const payment = await fixture.api.getPayment(id);
			if (payment.status === 'pending') wrong.push(`payment ${id} is still pending`);
			if (!reviewed.has(id)) continue;
			const rowOf = finder(await fixture.sql.all('select * from payments where id = ?', id));
			const charge = charges.find((one) => rowOf(one) !== undefined);
			if (charge) open += simulator.books.takenOf(charge) - backOf(simulator, charge);
		}
	}
	if (paid - back !== bought + open) {
		wrong.push(`${buyer.phone} paid ${paid}, got ${back} back, time for ${bought}; ${open} is in review`);
	}
	return wrong;
}
