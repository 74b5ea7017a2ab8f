/** Reads often while the payer looks at the screen, then rarely: callbacks make most reads unnecessary. */
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const STEPS: readonly { untilAge: number; delay: number }[] = [
	{ untilAge: 3 * SECOND, delay: 3 * SECOND },
	{ untilAge: 8 * SECOND, delay: 5 * SECOND },
	{ untilAge: 16 * SECOND, delay: 8 * SECOND },
	{ untilAge: 29 * SECOND, delay: 13 * SECOND },
	{ untilAge: 49 * SECOND, delay: 20 * SECOND },
	{ untilAge: 79 * SECOND, delay: 30 * SECOND },
	{ untilAge: 10 * MINUTE, delay: MINUTE },
	{ untilAge: 30 * MINUTE, delay: 5 * MINUTE },
	{ untilAge: 2 * HOUR, delay: 15 * MINUTE },
	{ untilAge: 12 * HOUR, delay: HOUR },
	{ untilAge: Infinity, delay: 6 * HOUR }
];

/** The operator may lack the request, so the payer may have no prompt: ask often. */
const UNCERTAIN_DELAY = 5 * SECOND;
const UNCERTAIN_UNTIL_AGE = 2 * MINUTE;

/** A refused or declined payment is only watched for a late success. */
const FAILED_DELAY = 5 * MINUTE;

/** Relative spread of longer delays, so that payments started together are not always read together. */
const JITTER = 0.1;
const JITTER_FROM = 20 * SECOND;

export function nextPollDelayMs(attempt: { ageMs: number; uncertain: boolean; hasFailed: boolean }): number {
	const step = STEPS.find(({ untilAge }) => attempt.ageMs < untilAge);
	let delay = step?.delay ?? 6 * HOUR;
	if (attempt.uncertain && attempt.ageMs < UNCERTAIN_UNTIL_AGE) delay = Math.min(delay, UNCERTAIN_DELAY);
	if (attempt.hasFailed) delay = Math.max(delay, FAILED_DELAY);
	if (delay >= JITTER_FROM) delay *= 1 + JITTER * (2 * Math.random() - 1);
	return Math.round(delay);
}
