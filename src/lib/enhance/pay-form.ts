import { OWN_TIME, type PricedRouter, ownDuration, payablePrice } from '../purchase/quote.ts';
import { formatMoney } from '../domain/money.ts';
import { all, fill, settingsOf, onWindow } from './dom.ts';

export interface PayFormSettings extends PricedRouter {
	/** "Pay" and "Pay {}" */
	pay: string;
	payMoney: string;
}

const field = (form: HTMLFormElement, selector: string) => form.querySelector<HTMLInputElement>(selector);

/**
 * `data-pay`: shows the price of the chosen time on the button. It reads the fields each time, because they may be filled
 * before the script runs or by going back.
 */
export function payForm(): void {
	for (const form of all<HTMLFormElement>('form[data-pay]')) follow(form, settingsOf(form, 'pay'));
}

function follow(form: HTMLFormElement, settings: PayFormSettings): void {
	const update = () => showTotal(form, settings);
	form.addEventListener('input', ({ target }) => {
		const { name = '' } = target as HTMLInputElement;
		const own = field(form, `input[name=time][value=${OWN_TIME}]`);
		if (own && /^(count|unit)$/.test(name)) own.checked = true;
		update();
	});
	form.addEventListener('change', update);
	onWindow('pageshow', form, update);
	// The form's `pays` counts only if no script shows the total.
	const pays = field(form, '[name=pays]');
	if (pays) pays.disabled = true;
	update();
}

function showTotal(form: HTMLFormElement, settings: PayFormSettings): void {
	const duration = ownDuration(field(form, '[name=count]')?.value ?? '', unitOf(form));
	const amount = duration === null ? null : payablePrice(settings, duration);
	// A line may break after the currency.
	const ownMoney = amount === null ? '' : formatMoney(amount, settings.currency).replace('\u00a0', ' ');
	set(form, 'asked', amount === null ? '' : (duration ?? ''));
	set(form, 'quoted', amount === null ? '' : String(amount));
	const ownFigure = field(form, `input[value=${OWN_TIME}]`)?.parentElement?.querySelector('b');
	if (ownFigure) ownFigure.textContent = ownMoney;

	const money = field(form, 'input[name=time]:checked')?.parentElement?.querySelector('b')?.textContent ?? '';
	const button = form.querySelector('button:not([type=button])');
	if (button && !button.hasAttribute('aria-disabled')) {
		button.textContent = money ? fill(settings.payMoney, money.replace(' ', '\u00a0')) : settings.pay;
	}
}

const unitOf = (form: HTMLFormElement) => form.querySelector<HTMLSelectElement>('[name=unit]')?.value ?? '';

function set(form: HTMLFormElement, name: string, value: string): void {
	const input = field(form, `[name=${name}]`);
	if (input) input.value = value;
}
