import { all } from './dom.ts';

/** Buttons that need script: hidden in the HTML and shown here. */

const CONFIRMATION_MS = 3_000;

/** For old browsers and pages on plain http, which have no `navigator.clipboard`. */
function copyBySelection(text: string): boolean {
	const field = document.createElement('textarea');
	field.value = text;
	field.readOnly = true;
	field.className = 'visually-hidden';
	document.body.append(field);
	field.select();
	field.setSelectionRange(0, text.length);
	try {
		return document.execCommand('copy');
	} catch {
		return false;
	} finally {
		field.remove();
	}
}

async function copyByClipboard(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false;
	}
}

/** `data-copy`: copies the text, or without one the code of the figure, and briefly shows the result. */
export function copy(): void {
	for (const button of all('[data-copy]')) {
		const { copied = '', byHand = '' } = button.dataset;
		const label = button.textContent;
		const status = button.parentElement?.querySelector('[role=status]');
		let timer: ReturnType<typeof setTimeout>;
		const show = (message: string) => {
			button.textContent = message || label;
			if (status) status.textContent = message;
		};
		button.hidden = false;
		button.addEventListener('click', async () => {
			const code = button.closest('figure')?.querySelector('code')?.textContent;
			const text = button.dataset['copy'] || code || '';
			const done = copyBySelection(text) || (await copyByClipboard(text));
			button.focus();
			show(done ? copied : byHand);
			clearTimeout(timer);
			timer = setTimeout(() => show(''), CONFIRMATION_MS);
		});
	}
}

export function print(): void {
	for (const button of all('[data-print]')) {
		button.hidden = false;
		button.addEventListener('click', () => window.print());
	}
}
