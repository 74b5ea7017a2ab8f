/**
 * Carries a buyer's entries to the page in another language, which has another address. They travel in the window's name:
 * in memory only, not in an address, the history or a storage, and are cleared when read.
 */
export interface Handover {
	screen: string;
	duration: string;
	paymentMethod: string;
	phone: string;
	/** Token of an order that is not sent yet, or whose result is not known. */
	order: string;
	/** Token of a purchase; empty while there is none. */
	token: string;
}

const MARK = 'airtill-kiosk ';
/** A page that takes longer may be the next buyer's. */
const FRESH_MS = 20_000;

export function handOver(entries: Handover): void {
	window.name = MARK + JSON.stringify({ ...entries, at: Date.now() });
}

/** Reads and clears the entries. @returns null when none were handed over just now */
export function takeOver(): Handover | null {
	const { name } = window;
	window.name = '';
	if (!name.startsWith(MARK)) return null;
	try {
		const { at, ...entries } = JSON.parse(name.slice(MARK.length)) as Handover & { at: number };
		return Math.abs(Date.now() - at) < FRESH_MS ? entries : null;
	} catch {
		return null;
	}
}
