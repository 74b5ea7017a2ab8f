import { all } from './dom.ts';

/** A colour beside a radio button: choosing it selects the button, and the other choice resets it. */
export function colour(): void {
	for (const input of all<HTMLInputElement>('[type=color]')) {
		const own = input.parentElement?.querySelector<HTMLInputElement>('[type=radio]');
		if (!own) continue;
		input.addEventListener('input', () => (own.checked = true));
		input.form?.addEventListener('change', () => {
			if (!own.checked) input.value = input.defaultValue;
		});
	}
}
