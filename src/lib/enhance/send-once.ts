import { all } from './dom.ts';

/** After this time a press sends the form again: the server takes it for the same purchase. */
const SENDING_MS = 10_000;

/**
 * `data-sending`: sends a form once, however often its button is pressed, and shows that text on the button meanwhile.
 * Without a connection the form stays as it is, and `data-unsent` says that nothing was charged.
 */
export function sendOnce(): void {
	for (const form of all<HTMLFormElement>('form[data-sending]')) guard(form);
}

function guard(form: HTMLFormElement): void {
	const button = form.querySelector<HTMLButtonElement>('button:not([type=button])');
	if (!button) return;
	let label: string | null = null;
	const release = () => {
		if (label === null) return;
		button.textContent = label;
		button.removeAttribute('aria-disabled');
		label = null;
	};
	const note = document.createElement('p');
	note.className = 'box bad';
	note.setAttribute('role', 'alert');
	form.addEventListener('submit', (event) => {
		if (label !== null || !navigator.onLine) event.preventDefault();
		if (label !== null) return;
		if (!navigator.onLine) {
			note.textContent = form.dataset['unsent'] ?? '';
			button.before(note);
			return;
		}
		note.remove();
		label = button.textContent;
		button.textContent = form.dataset['sending'] ?? label;
		button.setAttribute('aria-disabled', 'true');
		setTimeout(release, SENDING_MS);
	});
	addEventListener('online', () => note.remove());
	// Going back brings the page as it was left: with a form that is being sent.
	addEventListener('pageshow', release);
}
