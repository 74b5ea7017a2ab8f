import { all, fill, onWindow } from './dom.ts';
import { findOperator } from './phone.ts';

/** A press after this time sends the form again; the server treats it as the same purchase. */
const SENDING_MS = 10_000;

/**
 * `data-sending`: sends a form once, even if its button is pressed repeatedly, and shows its text on the button, or
 * `data-asking` with the name of a known operator. Without a connection the form stays, and `data-unsent` says that nothing
 * was charged. Pressed again it is sent all the same: the phone may be wrong about its connection.
 */
export function sendOnce(sendingMs = SENDING_MS): void {
	for (const form of all<HTMLFormElement>('form[data-sending]')) guard(form, sendingMs);
}

function guard(form: HTMLFormElement, sendingMs: number): void {
	const button = form.querySelector<HTMLButtonElement>('button:not([type=button])');
	if (!button) return;
	let label: string | null = null;
	const release = () => {
		if (label === null) return;
		button.textContent = label;
		button.style.height = '';
		button.removeAttribute('aria-disabled');
		label = null;
	};
	const note = document.createElement('p');
	note.className = 'box bad';
	note.setAttribute('role', 'alert');
	form.addEventListener('submit', (event) => {
		if (label !== null) return event.preventDefault();
		if (!navigator.onLine && !note.isConnected) {
			event.preventDefault();
			note.textContent = form.dataset['unsent'] ?? '';
			button.before(note);
			return;
		}
		note.remove();
		label = button.textContent;
		const { asking, sending = label } = form.dataset;
		const operator = findOperator(form);
		// Nothing below it moves when the text is shorter or longer.
		button.style.height = `${button.offsetHeight}px`;
		button.textContent = asking && operator ? fill(asking, operator) : sending;
		button.setAttribute('aria-disabled', 'true');
		setTimeout(release, sendingMs);
	});
	onWindow('online', form, () => note.remove());
	// Going back restores the page with a form that is still being sent.
	onWindow('pageshow', form, release);
}
