/** Steps of a buyer on the splash page. */
import { expect } from 'vitest';
import { numberEnding } from '../api/api.ts';
import { fieldValue, type Browsing, type Fields, type Page } from './browsing.ts';

/** The form of that page, filled in for an hour: where it goes, and what it sends. */
export function hourOn(page: Page, phone = numberEnding('008')): { action: string; fields: Fields } {
	const action = /<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '';
	const time = /value="(1h [^"]+)"/.exec(page.html)?.[1] ?? '';
	const purchase = fieldValue(page, 'purchase');
	return { action, fields: { time, paymentMethod: 'mobile_money', phone, purchase } };
}

/** Buys an hour on the page that is open. @returns the path of the purchase, without the device */
export const buyHourOn = async (person: Browsing, page: Page, phone?: string): Promise<string> =>
	pathOf(await buyHourHere(person, page, phone));

export const pathOf = (address: string): string => /^\/s\/[\w-]{24}/.exec(address)?.[0] ?? '';

/** Buys an hour on the page that is open. @returns the address of the purchase, which names the device */
export async function buyHourHere(person: Browsing, page: Page, phone?: string): Promise<string> {
	const { action, fields } = hourOn(page, phone);
	const bought = await person.post(action, fields);
	expect(bought.path, bought.text).toMatch(/^\/s(\/[\w-]{24}){1,2}$/);
	return bought.path;
}
