/**
 * Takes what a buyer has entered over into another language, whose page is another address. It travels in the
 * window's name: in memory, for the moment of the change, in no address, history or storage, and wiped when read.
 */
export interface Handover {
	screen: string;
	duration: string;
	paymentMethod: string;
	phone: string;
	/** Token of the order that is not sent yet, or whose fate is not known. */
	order: string;
	/** Token of a purchase that has begun; empty while there is none. */
	token: string;
}

const MARK = 'airtill-kiosk ';
/** A page that takes longer is the next buyer's. */
const FRESH_MS = 20_000;

export function handOver(entries: Handover): void {
	window.name = MARK + JSON.stringify({ ...entries, at: Date.now() });
}

/** @returns null when nothing was handed over just now; whatever was there is wiped */
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
