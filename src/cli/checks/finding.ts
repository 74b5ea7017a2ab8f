/** One line of the doctor's report. */
export interface Finding {
	level: 'ok' | 'warn' | 'FAIL';
	/** The subject, e.g. `database`. */
	name: string;
	what: string;
	/** The next step; null if none is needed. */
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
