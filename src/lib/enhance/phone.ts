import { ANY_PAYMENT_METHOD, guessPaymentMethod, roughE164 } from '../domain/payment-methods.ts';
import { plainNumber } from '../domain/text.ts';
import { all, fill, onWindow } from './dom.ts';

const MAX_DIGITS = 20;

/**
 * Writes a number in the groups of an example, as it is typed, pasted or filled in.
 * @param example as it follows the prefix: "712 345678" for numbers that are dialled "0712 345678" at home
 * @param prefix of numbers without a country code, e.g. `+256`
 */
export function groupNumber(typed: string, example: string, prefix: string): string {
	const digits = plainNumber(typed)
		.replace(/\( ?0 ?\)|[^\d+]|(?!^)\+/g, '')
		// "+256 0772 …", as many write it. Without the plus it may be a number of home: 70… where the prefix is +7.
		.replace(RegExp(`^(\\${prefix})${example.startsWith('0') ? '' : '0+'}`), '$1')
		.slice(0, MAX_DIGITS);
	if (digits.startsWith('00')) return digits;
	if (isForeign(digits, prefix)) return digits.replace(/\d{3}(?=\d)/g, '$& ');
	let rest = digits;
	const groups = (digits.startsWith('0') && !example.startsWith('0') ? `0${example}` : example)
		.split(' ')
		.map(({ length }) => {
			const group = rest.slice(0, length);
			rest = rest.slice(length);
			return group;
		});
	return groups.join(' ').trim() + rest;
}

const isForeign = (typed: string, prefix: string): boolean =>
	/^(\+|00)/.test(typed) || typed.startsWith(prefix.slice(1));

/** Returns whether a number needs no prefix before it: it has a country code, or the 0 that is dialled at home. */
export const isWhole = (typed: string, example: string, prefix: string): boolean =>
	isForeign(typed, prefix) || (typed.startsWith('0') && !example.startsWith('0'));

/** Finds the name of the operator that the buyer or the number has chosen; null if nobody knows it. */
export const findOperator = (form: HTMLFormElement): string | null =>
	form.querySelector('.chips :checked + span, p.chips > span')?.textContent ?? null;

/** `data-prefix`: groups the number of the field, and chooses its operator unless the buyer has chosen another one. */
export function phoneNumber(): void {
	for (const field of all<HTMLInputElement>('input[data-prefix]'))
		follow(field, field.dataset['prefix'] ?? '');
}

function follow(field: HTMLInputElement, prefix: string): void {
	const { form } = field;
	const radio = (state: string) =>
		form?.querySelector<HTMLInputElement>(`input[name=paymentMethod]${state}`) ?? null;
	const pin = form?.querySelector<HTMLElement>('[data-pin]');
	const anyPin = pin?.textContent ?? '';
	const guess = () => guessPaymentMethod(roughE164(field.value, prefix)) ?? ANY_PAYMENT_METHOD;
	// The server sends what the number said before: no choice of the buyer.
	const sent = radio(':checked');
	let guessed = sent?.value === guess() ? sent : null;
	const showOperator = () => {
		const name = form && findOperator(form);
		if (pin) pin.textContent = name ? fill(pin.dataset['pin'] ?? '', name) : anyPin;
	};
	const update = () => {
		regroup(field, prefix);
		field.parentElement?.classList.toggle('whole', isWhole(field.value, field.placeholder, prefix));
		const chosen = radio(':checked');
		if (chosen?.value === ANY_PAYMENT_METHOD || (chosen && chosen === guessed)) {
			guessed = radio(`[value=${guess()}]`) ?? radio(`[value=${ANY_PAYMENT_METHOD}]`);
			if (guessed) guessed.checked = true;
		}
		showOperator();
	};
	field.addEventListener('input', update);
	form?.addEventListener('change', showOperator);
	form?.addEventListener('click', ({ target }) => {
		if (target instanceof HTMLInputElement && target.name === 'paymentMethod') guessed = null;
	});
	// The field may be filled before the script runs, or by going back.
	onWindow('pageshow', field, update);
	update();
}

/** Keeps the cursor behind the same digit. */
function regroup(field: HTMLInputElement, prefix: string): void {
	const { value, selectionStart } = field;
	const grouped = groupNumber(value, field.placeholder, prefix);
	if (grouped === value) return;
	let digits = value.slice(0, selectionStart ?? value.length).replace(/[^\p{Nd}+]/gu, '').length;
	field.value = grouped;
	let at = 0;
	while (digits > 0 && at < grouped.length) if (grouped.charAt(at++) !== ' ') digits -= 1;
	if (document.activeElement === field) field.setSelectionRange(at, at);
}
