import * as m from '#lib/i18n/messages.js';
import { dataText } from '../offer-words.ts';

/** The data of a pass, in MB. */
export interface PassData {
	limitMb: number;
	/** null while no gateway has reported any: some report only when a device signs out. */
	leftMb: number | null;
}

/** The page warns when this share of the data is left. */
const WARN_SHARE = 0.2;
const STEPS = 10;
/** From 1 GB on, the data left is shown in steps of 100 MB, rounded down. */
const SHOWN_STEP_MB = 100;

/** Describes the data left: "12.4 GB of 20 GB left", or "20 GB" if that is unknown. */
export function dataWords({ limitMb, leftMb }: PassData): { text: string; isLow: boolean } {
	if (leftMb === null) return { text: dataText(limitMb), isLow: false };
	const shownMb = leftMb < 1000 ? leftMb : Math.floor(leftMb / SHOWN_STEP_MB) * SHOWN_STEP_MB;
	return {
		text: m.purchase_data_left({ left: dataText(shownMb), limit: dataText(limitMb) }),
		isLow: leftMb <= WARN_SHARE * limitMb
	};
}

/** Changes with each tenth of the data, so that an open page shows it. */
export const dataStep = ({ limitMb, leftMb }: PassData): number | null =>
	leftMb === null ? null : Math.ceil((STEPS * leftMb) / limitMb);
