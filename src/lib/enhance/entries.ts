import { all } from './dom.ts';

const KEPT = 'airtill:entries';

/** Links to other languages keep what was typed into the form of an order: the page that opens takes it. */
export function keepEntries(): void {
	const kept = take();
	if (kept) enter(new URLSearchParams(kept));
	for (const link of all('.languages a')) link.addEventListener('click', keep);
}

function keep(): void {
	const [form] = all<HTMLFormElement>('form[data-sending]');
	if (!form) return;
	const entries = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
	try {
		sessionStorage.setItem(KEPT, String(new URLSearchParams(entries)));
	} catch {
		// A browser without storage asks again.
	}
}

function take(): string | null {
	try {
		const kept = sessionStorage.getItem(KEPT);
		sessionStorage.removeItem(KEPT);
		return kept;
	} catch {
		return null;
	}
}

/** Enters what was typed into the same form in another language. Other hidden fields than the order's token are the page's. */
export function enter(entries: Pick<FormData, 'get'>): void {
	for (const field of all<HTMLInputElement>('main form [name]')) {
		const value = entries.get(field.name);
		if (typeof value !== 'string') continue;
		if (field.type === 'radio') field.checked = field.value === value;
		else if (field.type !== 'hidden' || field.name === 'purchase') field.value = value;
		const isChosen = field.type === 'radio' ? field.checked : field.name === 'count' && value !== '';
		const fold = isChosen ? field.closest('details') : null;
		if (fold) fold.open = true;
	}
}
