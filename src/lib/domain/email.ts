/** RFC 5321, 4.5.3.1.3: a path has at most 256 octets, including two brackets. */
export const MAX_EMAIL_CHARACTERS = 254;

/** The HTML standard's "valid e-mail address", with a dot in the host. */
const EMAIL =
	/^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/;

export const isEmail = (text: string): boolean => text.length <= MAX_EMAIL_CHARACTERS && EMAIL.test(text);
