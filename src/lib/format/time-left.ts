/** Texts of the current language with their placeholders: "{hours} h {minutes} min". */
export interface TimeLeftWords {
	minutes: string;
	hours: string;
	hoursMinutes: string;
	days: string;
	daysHours: string;
}

/** Formats seconds as on a stopwatch: "0:40", "10:00". */
export const stopwatch = (seconds: number): string =>
	`${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

/**
 * Formats a span for the server and the countdown: "6 d 4 h", "1 h 58 min", "42 min", "4:07". Rounds up, as
 * the API does: an hour that was just bought is "60 min".
 */
export function timeLeft(seconds: number, words: TimeLeftWords): string {
	const left = Math.max(0, Math.ceil(seconds));
	if (left < 5 * 60) return stopwatch(left);
	const minutes = Math.ceil(left / 60);
	// Days have no minutes: round up to hours.
	const hours = minutes < 24 * 60 ? Math.floor(minutes / 60) : Math.ceil(minutes / 60);
	const days = Math.floor(hours / 24);
	const fill = (text: string, numbers: Record<string, number>) =>
		text.replace(/\{(\w+)\}/g, (_, name: string) => String(numbers[name]));
	if (minutes <= 60) return fill(words.minutes, { minutes });
	if (days === 0) {
		return minutes % 60 === 0
			? fill(words.hours, { hours })
			: fill(words.hoursMinutes, { hours, minutes: minutes % 60 });
	}
	return hours % 24 === 0 ? fill(words.days, { days }) : fill(words.daysHours, { days, hours: hours % 24 });
}
