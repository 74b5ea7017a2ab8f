export interface Finding {
	level: 'ok' | 'warn' | 'FAIL';
	/** The subject, e.g. `database`. */
	name: string;
	what: string;
	/** The next step; null if none is needed. */
	advice: string | null;
}

const finding =
	(level: 'warn' | 'FAIL') =>
	(name: string, what: string, advice: string): Finding => ({ level, name, what, advice });

export const ok = (name: string, what: string): Finding => ({ level: 'ok', name, what, advice: null });
export const warn = finding('warn');
export const fail = finding('FAIL');
