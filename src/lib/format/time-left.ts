/** Texts of the current language with their placeholders: "{hours} h {minutes} min". */
export interface TimeLeftWords {
	minutes: string;
	hours: string;
	hoursMinutes: string;
	days: string;
	daysHours: string;
}

/** Formats a span for the server and the countdown: "6 d 4 h", "1 h 58 min", "42 min", "4:07". */
export function timeLeft(seconds: number, words: TimeLeftWords): string {
	const left = Math.max(0, Math.floor(seconds));
	const minutes = Math.floor(left / 60);
	if (minutes < 5) return `${minutes}:${String(left % 60).padStart(2, '0')}`;
	const hours = Math.floor(minutes / 60);
	const days = Math.floor(hours / 24);
	const fill = (text: string, numbers: Record<string, number>) =>
		text.replace(/\{(\w+)\}/g, (_, name: string) => String(numbers[name]));
	if (hours === 0) return fill(words.minutes, { minutes });
	if (days === 0) {
		return minutes % 60 === 0
			? fill(words.hours, { hours })
			: fill(words.hoursMinutes, { hours, minutes: minutes % 60 });
	}
	return hours % 24 === 0 ? fill(words.days, { days }) : fill(words.daysHours, { days, hours: hours % 24 });
}
