import { positionOf } from '../map/position.ts';
import { all, settingsOf } from './dom.ts';

export interface LocateSettings {
	asking: string;
	refused: string;
	unknown: string;
	/** Address of the list, to which a position is added. Without it the position goes into the fields `lat` and `lon`. */
	list?: string;
}

const TIMEOUT_MS = 15_000;
/** The browser's own time limit begins when the person has answered its question, which some never do. */
const UNANSWERED_MS = 25_000;
const MAX_AGE_MS = 60_000;

/** `data-locate`: opens the list around the phone's position, or fills it in. Shows errors in `#location-hint`. */
export function locate(): void {
	// Browsers provide positions to secure pages only.
	if (!window.isSecureContext || !('geolocation' in navigator)) return;
	for (const button of all('[data-locate]')) {
		const settings = settingsOf<LocateSettings>(button, 'locate');
		button.hidden = false;
		button.addEventListener('click', () => ask(button, settings));
	}
}

function ask(button: HTMLElement, { asking, refused, unknown, list }: LocateSettings): void {
	const label = button.textContent;
	const hint = document.getElementById('location-hint');
	button.textContent = asking;
	button.setAttribute('aria-disabled', 'true');
	const done = (answer = '', isError = false) => {
		button.textContent = label;
		button.removeAttribute('aria-disabled');
		if (!hint || answer === '') return;
		hint.className = isError ? 'small error' : 'small';
		hint.setAttribute('role', 'alert');
		hint.textContent = answer;
	};
	setTimeout(() => button.hasAttribute('aria-disabled') && done(unknown, true), UNANSWERED_MS);
	navigator.geolocation.getCurrentPosition(
		({ coords }) => {
			const position = positionOf(coords.latitude, coords.longitude);
			done();
			if (!position) return;
			if (list !== undefined) location.assign(`${list}lat=${position.lat}&lon=${position.lon}`);
			else for (const name of ['lat', 'lon'] as const) fillIn(name, position[name]);
		},
		// A refused permission is the visitor's choice.
		({ code, PERMISSION_DENIED }) => (code === PERMISSION_DENIED ? done(refused) : done(unknown, true)),
		{ timeout: TIMEOUT_MS, maximumAge: MAX_AGE_MS }
	);
}

function fillIn(id: string, value: number): void {
	const field = document.getElementById(id);
	if (!(field instanceof HTMLInputElement)) return;
	field.value = String(value);
	field.dispatchEvent(new Event('change'));
}
