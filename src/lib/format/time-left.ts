/** Texts of a unit, each from a count on: [1, '{n} hour'], [2, '{n} hours']. */
type UnitTexts = [from: number, text: string][];

/** Texts of the current language. The countdown runs without plural rules, which old phones lack. */
export interface TimeLeftWords {
	minute: UnitTexts;
	hour: UnitTexts;
	day: UnitTexts;
	/** "{larger} {smaller}" */
	joined: string;
}

/** Formats seconds as on a stopwatch: "0:40", "10:00". */
export const stopwatch = (seconds: number): string =>
	`${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

/**
 * Formats a span for the server and the countdown: "6 days 4 hours", "1 hour 58 minutes", "42 minutes", "4:07". Rounds
 * up, as the API does: an hour that was just bought is "1 hour".
 */
export function timeLeft(seconds: number, words: TimeLeftWords): string {
	const left = Math.max(0, Math.ceil(seconds));
	if (left < 5 * 60) return stopwatch(left);
	const minutes = Math.ceil(left / 60);
	// Days have no minutes: round up to hours.
	const hours = minutes < 24 * 60 ? Math.floor(minutes / 60) : Math.ceil(minutes / 60);
	const unit = (texts: UnitTexts, count: number) =>
		texts.reduce((found, [from, text]) => (count >= from ? text : found), '').replace('{n}', String(count));
	const [larger, smaller] =
		hours < 24
			? [unit(words.hour, hours), unit(words.minute, minutes % 60)]
			: [unit(words.day, Math.floor(hours / 24)), unit(words.hour, hours % 24)];
	return larger && smaller
		? words.joined.replace('{larger}', larger).replace('{smaller}', smaller)
		: larger || smaller;
}
