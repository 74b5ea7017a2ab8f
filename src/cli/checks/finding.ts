/** One line of the doctor's report. */
export interface Finding {
	level: 'ok' | 'warn' | 'FAIL';
	/** What was looked at: `database`. */
	name: string;
	what: string;
	/** What to do; null when there is nothing to do. */
	advice: string | null;
}

export const ok = (name: string, what: string): Finding => ({ level: 'ok', name, what, advice: null });

export const warn = (name: string, what: string, advice: string): Finding => ({
	level: 'warn',
	name,
	what,
	advice
});

export const fail = (name: string, what: string, advice: string): Finding => ({
	level: 'FAIL',
	name,
	what,
	advice
});
