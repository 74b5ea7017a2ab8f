const OWN_NAMES = ['airtill'];
const MIN_NAME_CHARACTERS = 4;
/** Characters of a password that are neither a name of its account nor a repetition. */
const MIN_OTHER_CHARACTERS = 6;

/** Returns why an attacker would try this password early, or null. */
export function guessProblem(password: string, email: string): 'repeats' | 'names' | null {
	const plain = password.normalize('NFKC').toLowerCase();
	if (new Set(plain).size < MIN_OTHER_CHARACTERS) {
		return 'repeats';
	}
	if (withoutNames(plain, email).length < MIN_OTHER_CHARACTERS) {
		return 'names';
	}
	return null;
}

function withoutNames(plain: string, email: string): string {
	const address = email.trim().toLowerCase();
	const names = [address, ...address.split(/[@.+_-]/), ...OWN_NAMES];
	return names
		.filter((name) => name.length >= MIN_NAME_CHARACTERS)
		.reduce((rest, name) => rest.replaceAll(name, ''), plain)
		.replace(/[^\p{L}\p{N}]/gu, '');
}
