/** Moments and spans as a buyer reads them, in the time zone of the installation (the server's, not the phone's). */

const DAY_MS = 24 * 60 * 60 * 1000;

const dayIn = (timeZone: string) =>
	new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });

/** "16:40" */
export function clockText(moment: Date, timeZone: string): string {
	return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(moment);
}

/** "16:40" today, "tomorrow, 16:40", else "Sunday 23 November, 16:40". */
export function momentText(moment: Date, now: Date, timeZone: string): string {
	const clock = clockText(moment, timeZone);
	const day = dayIn(timeZone);
	const that = day.format(moment);
	if (that === day.format(now)) return clock;
	if (that === day.format(new Date(now.getTime() + DAY_MS))) return `tomorrow, ${clock}`;
	const date = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long', day: 'numeric', month: 'long' });
	// Intl writes "Sunday 23 November" or "Sunday, 23 November" after the age of its data.
	return `${date.format(moment).replace(',', '')}, ${clock}`;
}

/** Time left, coarse while it is long and exact near its end: "6 d 4 h", "1 h 58 min", "42 min", "4:07". */
export function timeLeftText(seconds: number): string {
	const left = Math.max(0, Math.floor(seconds));
	if (left < 5 * 60) return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
	const minutes = Math.floor(left / 60);
	if (minutes < 60) return `${minutes} min`;
	const hours = Math.floor(minutes / 60);
	if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
	return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
