import { normaliseEmail } from '#lib/domain/email.ts';

const OWN_NAMES = ['airtill'];
/** Shorter names and common passwords do not count. */
const MIN_WORD_CHARACTERS = 4;
/** Characters of a password that are neither a name of its account nor a repetition. */
const MIN_OTHER_CHARACTERS = 6;
/** Six digits or signs at each end: more of them are hard to guess. */
const AROUND = /^[^\p{L}]{1,6}|[^\p{L}]{1,6}$/gu;
/** Share of steps to a neighbouring key. In sentences it is below a third. */
const MIN_WALK = 0.7;
const REPEATED = /^(.+?)\1+$/u;

/** Returns why an attacker would try this password early, or null. */
export async function findGuessProblem(password: string, email: string) {
	const plain = password.normalize('NFKC').toLowerCase();
	if (new Set(plain).size < MIN_OTHER_CHARACTERS) {
		return 'repeats';
	}
	if (withoutNames(plain, email).length < MIN_OTHER_CHARACTERS) {
		return 'names';
	}
	return (await isCommon(plain)) ? 'common' : null;
}

/** Also finds a common password that is repeated, split into words, or mixed with a few digits or signs. */
async function isCommon(plain: string): Promise<boolean> {
	// 49,000 passwords. Loaded only when somebody chooses a password.
	const { adjacencyGraphs, dictionary } = await import('@zxcvbn-ts/language-common');
	const common = dictionary['passwords-common'];
	const joined = plain.replace(/[^\p{L}\p{N}]/gu, '');
	const letters = joined.replace(/\p{N}/gu, '');
	const cores = [plain, joined].map((form) => form.replace(AROUND, ''));
	// More digits than that are hard to guess.
	if (joined.length - letters.length <= MIN_OTHER_CHARACTERS) cores.push(letters);
	const forms = [plain, joined, ...cores].flatMap((form) => [form, form.replace(REPEATED, '$1')]);
	return (
		isWalk(joined, adjacencyGraphs.qwerty) ||
		forms.some((form) => form.length >= MIN_WORD_CHARACTERS && common.includes(form))
	);
}

/** Whether most characters follow each other on the keyboard or in the alphabet: `1qaz2wsx3edc`, `abcdefgh1234`. */
function isWalk(plain: string, neighbours: Readonly<Record<string, readonly (string | null)[]>>): boolean {
	const steps = [...plain].slice(1).filter((next, index) => {
		const key = plain[index] ?? '';
		const isNear = neighbours[key]?.some((near) => near?.includes(next)) ?? false;
		return isNear || Math.abs(next.charCodeAt(0) - key.charCodeAt(0)) <= 1;
	});
	return steps.length >= MIN_WALK * (plain.length - 1);
}

function withoutNames(plain: string, email: string): string {
	const address = normaliseEmail(email);
	const names = [address, ...address.split(/[@.+_-]/), ...OWN_NAMES];
	return names
		.filter((name) => name.length >= MIN_WORD_CHARACTERS)
		.reduce((rest, name) => rest.replaceAll(name, ''), plain)
		.replace(/[^\p{L}\p{N}]/gu, '');
}
