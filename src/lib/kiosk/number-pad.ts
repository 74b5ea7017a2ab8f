/** `data-key`: the keys of the number pad type into the number field, in the groups of the field's example. */

const MAX_DIGITS = 20;

/** Writes a number in the groups of an example: "0712 345678"; with a country code in threes. */
export function groupNumber(typed: string, example: string): string {
	const digits = typed.replace(/[^\d+]/g, '').slice(0, MAX_DIGITS);
	if (digits.charAt(0) !== example.charAt(0)) return digits.replace(/\d{3}(?=\d)/g, '$& ');
	let rest = digits;
	const groups = example.split(' ').map(({ length }) => {
		const group = rest.slice(0, length);
		rest = rest.slice(length);
		return group;
	});
	return groups.join(' ').trim() + rest;
}

export function pressKey(field: HTMLInputElement, key: string): void {
	const { value } = field;
	const isMarked = value !== '' && field.selectionStart === 0 && field.selectionEnd === value.length;
	field.value = key === '' ? value.replace(/[\d+]\D*$/, '') : (isMarked ? '' : value) + key;
	field.dispatchEvent(new Event('input', { bubbles: true }));
	field.setSelectionRange(field.value.length, field.value.length);
}

/** Not in the middle of a number: the cursor would jump. */
export function groupField(field: HTMLInputElement): void {
	if (field.selectionStart !== null && field.selectionStart < field.value.length) return;
	field.value = groupNumber(field.value, field.dataset['example'] ?? '');
}
