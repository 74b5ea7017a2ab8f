import { normaliseEmail } from '#lib/domain/email.ts';

const OWN_NAMES = ['airtill'];
/** Shorter names and common passwords do not count. */
const MIN_WORD_CHARACTERS = 4;
/** Characters of a password that are neither a name of its account nor a repetition. */
const MIN_OTHER_CHARACTERS = 6;
/** Six digits or signs at each end: more of them are hard to guess. */
const AROUND = /^[^\p{L}]{1,6}|[^\p{L}]{1,6}$/gu;
const REPEATED = /^(.+?)\1+$/u;

/** Returns why an attacker would try this password early, or null. */
export async function guessProblem(
	password: string,
	email: string
): Promise<'repeats' | 'names' | 'common' | null> {
	const plain = password.normalize('NFKC').toLowerCase();
	if (new Set(plain).size < MIN_OTHER_CHARACTERS) {
		return 'repeats';
	}
	if (withoutNames(plain, email).length < MIN_OTHER_CHARACTERS) {
		return 'names';
	}
	return (await isCommon(plain)) ? 'common' : null;
}

/** Also finds a common password that is repeated, or that has some digits or signs before or after it. */
async function isCommon(plain: string): Promise<boolean> {
	// 49,000 passwords. Loaded only when somebody chooses a password.
	const { dictionary } = await import('@zxcvbn-ts/language-common');
	const common = dictionary['passwords-common'];
	const core = plain.replace(AROUND, '');
	const forms = [plain, core].flatMap((form) => [form, form.replace(REPEATED, '$1')]);
	return forms.some((form) => form.length >= MIN_WORD_CHARACTERS && common.includes(form));
}

function withoutNames(plain: string, email: string): string {
	const address = normaliseEmail(email);
	const names = [address, ...address.split(/[@.+_-]/), ...OWN_NAMES];
	return names
		.filter((name) => name.length >= MIN_WORD_CHARACTERS)
		.reduce((rest, name) => rest.replaceAll(name, ''), plain)
		.replace(/[^\p{L}\p{N}]/gu, '');
}
