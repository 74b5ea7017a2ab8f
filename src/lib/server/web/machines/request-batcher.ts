import { setTimeout as pause } from 'node:timers/promises';

/**
 * Answers questions about one subject together: those that come while a round goes on, or in the pause after its
 * beginning, share the next one. However many ask, and however often, a subject costs one round in that time, nobody is
 * turned away, and no answer was found before its question came.
 * @param answerAll a round. @returns the answer to each of its questions
 */
export function createRequestBatcher<Q, A>(
	everyMs: number,
	answerAll: (subject: string, questions: readonly Q[]) => Promise<(question: Q) => A>,
	pauseFor: (ms: number) => Promise<unknown> = (ms) => pause(ms, null, { ref: false })
): (subject: string, question: Q) => Promise<A> {
	/** Rounds that have not begun, by subject. */
	const waiting = new Map<string, { questions: Q[]; answer: Promise<(question: Q) => A> }>();
	/** When the next round of a subject may begin; none for a subject that nobody asked about lately. */
	const turns = new Map<string, Promise<void>>();

	function plan(subject: string) {
		const before = turns.get(subject);
		const questions: Q[] = [];
		const answer = (async () => {
			await before;
			waiting.delete(subject);
			return answerAll(subject, questions);
		})();
		const turn = (async () => {
			await before;
			await Promise.allSettled([answer, pauseFor(everyMs)]);
		})();
		turns.set(subject, turn);
		void turn.then(() => {
			if (turns.get(subject) === turn) turns.delete(subject);
		});
		const round = { questions, answer };
		waiting.set(subject, round);
		return round;
	}

	return async (subject, question) => {
		const round = waiting.get(subject) ?? plan(subject);
		round.questions.push(question);
		return (await round.answer)(question);
	};
}
