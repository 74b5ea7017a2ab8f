/** As people write it, with or without a country code; short numbers too: "0772 123 456", "+256 414 …", "165". */
const PHONE = /^\+?(?:[ ()-]*\d){3,15}$/;
const EMAIL = /^[^\s@,]+@[^\s@,]+\.[^\s@,]+$/;

export const isPhone = (text: string): boolean => PHONE.test(text);
export const isContact = (text: string): boolean => isPhone(text) || EMAIL.test(text);

/** Returns the address that calls a phone number, or writes to an email address. */
export const contactHref = (contact: string): string =>
	contact.includes('@') ? `mailto:${contact}` : `tel:${contact.replace(/[^\d+]/g, '')}`;
